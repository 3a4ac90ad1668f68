// SPDX-License-Identifier: Apache-2.0
// A small producer for tests: one queue, one op, steps of a few slices.
#pragma once

#include "collector/recorder/recorder.h"
#include "collector/wire/producer.h"

#include <chrono>
#include <string>
#include <vector>

namespace fp8scope::test {

inline std::int64_t steadyNs()
{
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class TestProducer {
public:
    TestProducer(const recorder::Recorder& recorder, const std::string& mode, const std::string& token)
        : m_producer(recorder.socket(), wire::helloOfThisProcess(token, "test " + mode)), m_startNs(steadyNs())
    {
        wire::Encoder& records = m_producer.records();
        records.append(wire::RunBegin{.mode = mode, .tool = "test", .startNs = m_startNs});
        const auto device = records.append(wire::Device{.name = "test cpu", .kind = "cpu", .units = 2});
        m_queue = records.append(wire::Track{.name = mode + " queue", .device = device});
        const auto layer = records.append(wire::Layer{.name = mode + " layer"});
        m_op = records.append(wire::Op{.layer = layer, .name = mode + " op", .role = Role::Gemm});
        m_name = records.append(wire::Name{.text = mode + " op", .kind = NameKind::Op, .role = Role::Gemm});
        m_tensor = records.append(wire::Tensor{.layer = layer, .name = mode + ".x", .format = "e4m3"});
        m_producer.flush();
    }
    TestProducer(const recorder::Recorder& recorder, const std::string& mode)
        : TestProducer(recorder, mode, recorder.token())
    {}

    /// A millisecond of `slices` slices; the n-th step's loss is n.
    void step(int slices = 4)
    {
        const std::int64_t startNs = m_startNs + m_steps * 1'000'000;
        sendSlices(startNs, slices);
        m_producer.records().append(wire::TensorStat{.tensor = m_tensor, .step = m_steps, .amax = 1.5});
        m_producer.records().append(
            wire::StepEnd{.index = m_steps, .startNs = startNs, .durNs = 1'000'000, .loss = double(m_steps)});
        m_producer.flush();
        ++m_steps;
    }
    void sendSlices(std::int64_t startNs, int count)
    {
        const std::int64_t durNs = 1'000'000 / count;
        std::vector<wire::Slice> slices;
        for (int i = 0; i < count; ++i)
            slices.push_back({.startNs = startNs + i * durNs, .durNs = durNs, .name = m_name, .op = m_op});
        m_producer.records().append(m_queue, slices);
        m_producer.flush();
    }
    void end()
    {
        m_producer.records().append(wire::RunEnd{.endNs = m_startNs + m_steps * 1'000'000});
        m_producer.records().append(wire::Bye{});
        m_producer.flush();
    }
    [[nodiscard]] wire::Producer& wire() { return m_producer; }

private:
    wire::Producer m_producer;
    std::int64_t m_startNs;
    wire::LocalTrack m_queue;
    wire::LocalOp m_op;
    wire::LocalName m_name;
    wire::LocalTensor m_tensor;
    std::uint32_t m_steps = 0;
};

}  // namespace fp8scope::test
