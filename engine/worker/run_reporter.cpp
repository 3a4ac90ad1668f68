// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/run_reporter.h"

#include "engine/worker/cpu_device.h"
#include "engine/worker/plan_records.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace fp8scope::worker {

namespace {

std::int64_t steadyNow()
{
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

RunReporter::RunReporter(wire::Producer& producer, const plan::StepPlan& plan) : m_producer(producer), m_watch(plan)
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
    for (std::size_t i = 0; i < plan.layers.size(); ++i)
        m_layers.push_back(records.append(layerRecord(plan, i)));
    const auto layerAt = [&](int layer) {
        return layer < 0 ? wire::LocalLayer::none() : m_layers.at(static_cast<std::size_t>(layer));
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

void RunReporter::reportStep(const cpu::StepResult& result, bool warmup, const std::optional<ShadowResult>& shadow)
{
    m_slices.clear();
    for (const cpu::OpTiming& timing : result.ops)
        m_slices.push_back(
            {.startNs = timing.startNs, .durNs = timing.durNs, .name = m_names[timing.op], .op = m_ops[timing.op]});
    wire::Encoder& records = m_producer.records();
    records.append(m_queue, m_slices);
    reportNumerics(result);
    if (shadow)
        reportShadow(*shadow);
    m_watch.see(result, m_steps, warmup);
    records.append(wire::StepEnd{
        .index = m_steps, .startNs = result.startNs, .durNs = result.durNs, .warmup = warmup, .loss = result.loss});
    ++m_steps;
    m_producer.flush();
}

void RunReporter::reportNumerics(const cpu::StepResult& result)
{
    wire::Encoder& records = m_producer.records();
    for (std::size_t i = 0; i < result.quantized.size(); ++i) {
        const cpu::QuantizationStat& stat = result.quantized[i];
        records.append(wire::TensorStat{.tensor = m_tensors[i],
                                        .step = m_steps,
                                        .amax = stat.amax,
                                        .scale = stat.scale,
                                        .count = stat.count,
                                        .saturated = stat.saturated,
                                        .underflowed = stat.underflowed,
                                        .zeros = stat.zeros,
                                        .sqnrDb = result.quality.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                                         : result.quality[i].sqnrDb});
        if (!result.quality.empty())
            reportHistogram(m_tensors[i], result.quality[i]);
    }
    if (!std::isnan(result.gradientNorm))
        records.append(wire::StepValue{.step = m_steps, .name = "gradient_norm", .value = result.gradientNorm});
}

/// The bins between the first and the last that hold anything.
void RunReporter::reportHistogram(wire::LocalTensor tensor, const cpu::QuantizationQuality& quality)
{
    const auto& bins = quality.exponents;
    const auto holds = [](std::uint32_t count) { return count > 0; };
    const auto first = std::find_if(bins.begin(), bins.end(), holds);
    if (first == bins.end())
        return;
    const auto last = std::find_if(bins.rbegin(), bins.rend(), holds).base();
    constexpr int kBias = 127;
    m_producer.records().append(
        wire::ExponentHistogram{.tensor = tensor,
                                .step = m_steps,
                                .firstExponent = static_cast<std::int32_t>(first - bins.begin()) - kBias,
                                .counts = {first, last}});
}

void RunReporter::reportShadow(const ShadowResult& shadow)
{
    wire::Encoder& records = m_producer.records();
    for (const ShadowError& error : shadow.errors)
        records.append(wire::TensorError{.layer = m_layers.at(static_cast<std::size_t>(error.layer)),
                                         .step = m_steps,
                                         .tensor = error.tensor,
                                         .relativeError = error.relativeError});
    records.append(wire::StepValue{.step = m_steps, .name = "bf16_loss", .value = shadow.bf16Loss});
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
    for (const wire::Diagnostic& diagnostic : m_watch.diagnostics())
        m_producer.records().append(diagnostic);
    m_producer.records().append(wire::RunEnd{.endNs = steadyNow(), .complete = complete, .note = note});
    m_producer.records().append(wire::Bye{});
    m_producer.flush();
}

}  // namespace fp8scope::worker
