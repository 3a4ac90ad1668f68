// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/step.h"

#include "collector/trace/error.h"
#include "engine/predict/memory_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace fp8scope::predict {
namespace {

/// Which kind of kernel computes the GEMM: by its operands' types and how they are scaled.
GemmKind kindOf(const plan::GemmCall& call)
{
    if (!isFp8(call.a.type) && !isFp8(call.b.type))
        return GemmKind::Bf16;
    switch (call.aScaleMode) {
    case ScaleMode::OuterVec32F: return GemmKind::Rowwise;
    case ScaleMode::Vec128_32F:
    case ScaleMode::Blk128x128_32F: return GemmKind::Blockwise;
    case ScaleMode::Vec32Ue8m0: return GemmKind::Mxfp8;
    default: return GemmKind::Tensorwise;
    }
}

/// What a kernel reaches of a plain cast's bandwidth: kernels that compute on, transpose or reduce what they stream.
/// Casts of eager PyTorch: measured chains (resources/help/prediction.md); transposes: torchao's and Transformer
/// Engine's published cast-transpose kernels against their casts.
double streamFraction(plan::OpKind kind)
{
    switch (kind) {
    case plan::OpKind::Abs:
    case plan::OpKind::ToF32:
    case plan::OpKind::MulScale:
    case plan::OpKind::Clamp:
    case plan::OpKind::ToFp8: return 0.77;
    case plan::OpKind::Transpose: return 0.6;
    case plan::OpKind::CastTranspose:
    case plan::OpKind::CastTransposeDbias:
    case plan::OpKind::ActCastTranspose:
    case plan::OpKind::ActBackwardCastTranspose: return 0.85;
    case plan::OpKind::BiasGrad: return 0.8;
    default: return 1;
    }
}

/// An op of a kind that `calibrate` measured. Kinds that it did not are taken to stream as its casts do.
OpTime measuredKind(const plan::Op& op, const DeviceModel& device)
{
    const double bytes = static_cast<double>(op.bytes);
    auto known = device.ops.find(opClass(op));
    if (known == device.ops.end())
        known = device.ops.find(std::string(toString(plan::OpKind::Cast)));
    if (known == device.ops.end())
        throw Error(fmt::format("nothing was measured of {} ops on {}", opClass(op), device.spec.name), device.spec.id,
                    "calibrate it again: fp8scope calibrate");
    const OpConstants& c = known->second;
    const double us = predictOpUs(c, bytes, op.flops);
    const Bound bound = c.floorUs > us / 2 ? Bound::Launch : op.gemm ? Bound::Compute : Bound::Memory;
    return {us, bound};
}

/// Ops of equal shape take equal time; a plan repeats few shapes many times.
class OpTimes {
public:
    OpTimes(const plan::StepPlan& plan, const DeviceModel& device) : m_plan(plan), m_device(device) {}
    OpTime of(const plan::Op& op)
    {
        const int scaling = op.gemm ? static_cast<int>(kindOf(*op.gemm)) : -1;
        const auto [entry, isNew] = m_known.try_emplace({op.kind, scaling, op.m, op.n, op.k, op.bytes});
        if (isNew)
            entry->second = predictOp(m_plan, op, m_device);
        return entry->second;
    }

private:
    using Key = std::tuple<plan::OpKind, int, std::int64_t, std::int64_t, std::int64_t, std::uint64_t>;
    const plan::StepPlan& m_plan;
    const DeviceModel& m_device;
    std::map<Key, OpTime> m_known;
};

double submitUs(const HostConstants& host, Host kind, bool first)
{
    switch (kind) {
    case Host::Engine: return host.engineLaunchUs;
    case Host::Eager: return host.eagerLaunchUs;
    case Host::Graph: return first ? host.graphLaunchUs : 0;
    case Host::None: return 0;
    }
    return 0;
}

std::int64_t toNs(double us) { return std::llround(us * 1e3); }

}  // namespace

OpTime predictOp(const plan::StepPlan&, const plan::Op& op, const DeviceModel& device)
{
    if (!device.ops.empty())
        return measuredKind(op, device);
    if (op.gemm) {
        const GemmKind kind = kindOf(*op.gemm);
        GemmMachine machine = device.machine(kind);
        machine.resultBytes = static_cast<double>(sizeOf(op.gemm->d.type));
        const GemmTime time = predictGemm(machine, device.constantsOf(kind), {op.m, op.n, op.k}, Clock::Steady);
        return {time.us, time.bound};
    }
    const MemoryTime time = predictStream(device.machine(GemmKind::Bf16), device.constantsOf(QuantizerKind::Cast),
                                          static_cast<double>(op.bytes), streamFraction(op.kind));
    return {time.us, time.bound};
}

PredictedStep predictStep(const plan::StepPlan& plan, const DeviceModel& device, Host host)
{
    PredictedStep step;
    step.ops.reserve(plan.ops.size());
    OpTimes times(plan, device);
    double submittedUs = 0, endUs = 0;
    for (const plan::Op& op : plan.ops) {
        const OpTime time = times.of(op);
        const double submitStartUs = submittedUs;
        submittedUs += submitUs(device.host, host, step.ops.empty());
        const double afterUs = host == Host::Graph && !step.ops.empty() ? endUs + device.host.graphNodeUs : endUs;
        const bool starved = submittedUs > afterUs && !step.ops.empty();
        const double startUs = std::max(submittedUs, afterUs);
        endUs = startUs + time.us;
        const std::int64_t startNs = toNs(startUs);
        step.ops.push_back({startNs, toNs(endUs) - startNs, toNs(submitStartUs), toNs(submittedUs),
                            starved ? Bound::Host : time.bound});
        step.gpuNs += step.ops.back().durNs;
    }
    step.hostNs = toNs(submittedUs);
    step.stepNs = toNs(endUs);
    return step;
}

std::string_view toString(Host host)
{
    constexpr std::array<std::string_view, 4> kWords{"engine", "eager", "graph", "none"};
    return kWords[static_cast<std::size_t>(host)];
}

}  // namespace fp8scope::predict
