// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/rules/run_facts.h"

#include "app/analysis/slice_families.h"
#include "collector/trace/error.h"
#include "engine/plan/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fp8scope::analysis::rules {
namespace {

const TraceOp* opOf(const Trace& trace, const OpTime& time) { return time.op.valid() ? &trace.op(time.op) : nullptr; }

RoleSet fusedRoles(const Trace& trace, const OpTime& time)
{
    return time.op.valid() ? trace.op(time.op).fused : trace.name(time.name).fused;
}

/// A pass over a matrix that keeps a full-size 16- or 32-bit result between amax and cast: |x| (2 + 2 bytes an
/// element), x in fp32 (2 + 4), scaled (4 + 4), clamped (4 + 4). The fused forms move at most 3 bytes (cast) or 2
/// (amax).
bool isEagerPass(const Trace& trace, const OpTime& time)
{
    const TraceOp* op = opOf(trace, time);
    if (op == nullptr || (time.role != Role::Amax && time.role != Role::Cast))
        return false;
    const double elements = static_cast<double>(op->m) * static_cast<double>(op->n);
    return elements > 1 && static_cast<double>(op->bytes) > 3.5 * elements;
}

void noteFusions(const Trace& trace, const OpTime& time, RunFacts& facts)
{
    const RoleSet fused = fusedRoles(trace, time);
    const TraceOp* op = opOf(trace, time);
    switch (time.role) {
    case Role::Gemm:
        facts.usesFp8 = facts.usesFp8 || time.family == Family::GemmFp8;
        facts.biasInEpilogue = facts.biasInEpilogue || fused.contains(Role::Bias) ||
                               (op != nullptr && op->epilogue.find("bias") != std::string::npos);
        break;
    case Role::Transpose: facts.separateTransposes = true; break;
    case Role::CastTranspose:
        facts.castTranspose = true;
        facts.biasGradientInCast = facts.biasGradientInCast || fused.contains(Role::BiasGrad);
        break;
    case Role::Activation:
        facts.activationCasts = facts.activationCasts || fused.contains(Role::Amax) || fused.contains(Role::Cast);
        facts.castTranspose = facts.castTranspose || fused.contains(Role::CastTranspose);
        break;
    case Role::ActivationGrad:
    case Role::Optimizer:  // they may take in the casts of their results, and the bias gradient
        facts.castTranspose = facts.castTranspose || fused.contains(Role::CastTranspose);
        facts.biasGradientInCast = facts.biasGradientInCast || fused.contains(Role::BiasGrad);
        break;
    default: break;
    }
    facts.eagerCasts = facts.eagerCasts || isEagerPass(trace, time);
    facts.delayedRecipe = facts.delayedRecipe || (op != nullptr && op->recipe.find("delayed") != std::string::npos);
}

/// The forward GEMM of a layer, Y[m, n] = X[m, k] W[n, k]^T, tells batch, inputs and outputs.
void noteShape(const Trace& trace, const OpTime& time, RunFacts& facts)
{
    const TraceOp* op = opOf(trace, time);
    if (op == nullptr || time.role != Role::Gemm || op->phase != Phase::Forward || !op->layer.valid())
        return;
    facts.batch = std::max(facts.batch, op->m);
    // Micro-batches and recomputation run a layer's forward GEMM more than once.
    const bool known = std::any_of(facts.fp8Layers.begin(), facts.fp8Layers.end(),
                                   [&](const Fp8Layer& layer) { return layer.layer == op->layer; });
    if (time.family == Family::GemmFp8 && !known)
        facts.fp8Layers.push_back({op->layer, op->m, op->k, op->n});
}

/// 1 for runs that are not the engine's. The configuration is a file's: it may be no valid one.
std::int64_t microBatchesOf(const std::string& configToml)
{
    if (configToml.empty())
        return 1;
    try {
        return plan::parseConfig(configToml, "trace").microBatches;
    } catch (const Error&) {
        return 1;
    }
}

}  // namespace

RunFacts factsOf(const Trace& trace, const Breakdown& run)
{
    RunFacts facts;
    facts.microBatches = microBatchesOf(trace.run(run.run).configToml);
    if (const Device* device = deviceOf(trace, run.run))
        facts.hasFp8Units = device->hasFp8;
    for (const OpTime& time : run.ops) {
        noteFusions(trace, time, facts);
        noteShape(trace, time, facts);
    }
    return facts;
}

const Breakdown* fusedSibling(const AdviceInput& in, const Breakdown& run, const RunFacts& facts)
{
    const Breakdown* best = nullptr;
    for (const Breakdown& other : in.runs) {
        if (other.run == run.run || other.stepNs == 0)
            continue;
        const RunFacts otherFacts = factsOf(in.trace, other);
        const bool sameModel = otherFacts.batch == facts.batch &&
                               otherFacts.fp8Layers.size() == facts.fp8Layers.size() &&
                               otherFacts.delayedRecipe == facts.delayedRecipe;
        if (otherFacts.castsAreFused() && sameModel && (best == nullptr || other.stepNs < best->stepNs))
            best = &other;
    }
    return best;
}

OpSum sumOps(const Trace& trace, const Breakdown& run, const OpFilter& filter)
{
    OpSum sum;
    for (const OpTime& time : run.ops) {
        if (!filter(time))
            continue;
        sum.exposedNs += time.exposedNs;
        sum.busyNs += time.busyNs;
        sum.count += time.countPerStep;
        if (time.op.valid())
            sum.bytes += static_cast<double>(trace.op(time.op).bytes) * time.countPerStep;
    }
    return sum;
}

OpFilter withRole(Role role)
{
    return [role](const OpTime& time) { return time.role == role; };
}

std::vector<SliceRef> longestSlices(const Breakdown& run, const OpFilter& filter, std::size_t most)
{
    std::vector<const OpTime*> found;
    for (const OpTime& time : run.ops) {
        if (filter(time) && time.slowest.valid())
            found.push_back(&time);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const OpTime* a, const OpTime* b) { return a->exposedNs > b->exposedNs; });
    std::vector<SliceRef> slices;
    for (std::size_t i = 0; i < std::min(most, found.size()); ++i)
        slices.push_back(found[i]->slowest);
    return slices;
}

void setGain(Finding& finding, const Breakdown& run, double gainNs, double modelLow, double modelHigh)
{
    const double noise = run.steps.relativeNoise();
    finding.gainNs = std::max<std::int64_t>(0, std::llround(gainNs));
    finding.gain = {std::max(0.0, gainNs * (1 - modelLow) * (1 - noise)),
                    std::max(0.0, gainNs * (1 + modelHigh) * (1 + noise))};
}

std::string titleFor(const RunFacts& facts, const Breakdown& run, std::string title)
{
    return facts.usesFp8 && !facts.hasFp8Units ? fmt::format("In {} mode: {}", run.mode, title) : title;
}

}  // namespace fp8scope::analysis::rules
