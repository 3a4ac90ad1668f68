// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/run_reporter.h"

#include "engine/worker/cpu_device.h"
#include "engine/worker/plan_records.h"

#include <chrono>

namespace fp8scope::worker {

namespace {

std::int64_t steadyNow()
{
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

RunReporter::RunReporter(wire::Producer& producer, const plan::StepPlan& plan) : m_producer(producer)
{
    producer.records().append(wire::RunBegin{.mode = plan.settings.mode,
                                             .origin = Origin::MeasuredCpu,
                                             .configToml = plan::toToml(plan.config),
                                             .planText = plan::print(plan),
                                             .tool = "fp8scope " FP8SCOPE_VERSION,
                                             .startNs = steadyNow()});
    declareDevice();
    declareModel(plan);
    producer.flush();
}

void RunReporter::declareDevice()
{
    wire::Encoder& records = m_producer.records();
    const auto device = records.append(cpuDevice());
    m_queue = records.append(wire::Track{.kind = TrackKind::DeviceQueue, .name = "CPU executor", .device = device});
}

void RunReporter::declareModel(const plan::StepPlan& plan)
{
    wire::Encoder& records = m_producer.records();
    std::vector<wire::LocalLayer> layers;
    for (std::size_t i = 0; i < plan.layers.size(); ++i)
        layers.push_back(records.append(layerRecord(plan, i)));
    const auto layerAt = [&](int layer) {
        return layer < 0 ? wire::LocalLayer::none() : layers.at(static_cast<std::size_t>(layer));
    };
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        m_names.push_back(records.append(nameRecord(plan, i)));
        m_ops.push_back(records.append(opRecord(plan, i, layerAt(plan.ops[i].layer))));
    }
    for (const plan::QuantizedTensor& tensor : plan.quantized)
        m_tensors.push_back(records.append(wire::Tensor{
            .layer = layerAt(tensor.layer), .name = tensor.name, .format = std::string(toString(tensor.format))}));
    for (const plan::MemoryUse& use : plan::memoryByClass(plan))
        records.append(wire::MemoryClass{.name = use.name, .bytes = use.bytes});
    for (const plan::MemoryUse& use : cpu::memoryOutsideArena(plan))
        records.append(wire::MemoryClass{.name = use.name, .bytes = use.bytes});
    // The classes peak at different times: their sum is more than what was allocated.
    records.append(wire::MemoryClass{.name = "whole arena", .bytes = plan.arenaBytes});
}

void RunReporter::reportStep(const cpu::StepResult& result, bool warmup)
{
    m_slices.clear();
    for (const cpu::OpTiming& timing : result.ops)
        m_slices.push_back(
            {.startNs = timing.startNs, .durNs = timing.durNs, .name = m_names[timing.op], .op = m_ops[timing.op]});
    wire::Encoder& records = m_producer.records();
    records.append(m_queue, m_slices);
    for (std::size_t i = 0; i < result.quantized.size(); ++i) {
        const cpu::QuantizationStat& stat = result.quantized[i];
        records.append(wire::TensorStat{.tensor = m_tensors[i],
                                        .step = m_steps,
                                        .amax = stat.amax,
                                        .scale = stat.scale,
                                        .count = stat.count,
                                        .saturated = stat.saturated,
                                        .underflowed = stat.underflowed,
                                        .zeros = stat.zeros});
    }
    records.append(wire::StepEnd{
        .index = m_steps, .startNs = result.startNs, .durNs = result.durNs, .warmup = warmup, .loss = result.loss});
    ++m_steps;
    m_producer.flush();
}

std::string RunReporter::afterLastStep() const
{
    return m_steps == 0 ? "before its first step was finished" : "after step " + std::to_string(m_steps);
}

void RunReporter::endStopped() { end(false, "stopped " + afterLastStep()); }

void RunReporter::endFailed(const std::string& why)
{
    m_producer.records().append(
        wire::Diagnostic{.name = "engine_failed", .severity = Severity::Error, .count = 1, .text = why});
    end(false, "failed " + afterLastStep() + ": " + why);
}

void RunReporter::end(bool complete, const std::string& note)
{
    m_producer.records().append(wire::RunEnd{.endNs = steadyNow(), .complete = complete, .note = note});
    m_producer.records().append(wire::Bye{});
    m_producer.flush();
}

}  // namespace fp8scope::worker
