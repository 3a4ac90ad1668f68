// SPDX-License-Identifier: Apache-2.0
// Costs that a step pays whatever its batch: the optimizer, launch gaps, the scalar kernels of scales, the casts of
// weights. A larger batch spreads them over more samples. Said of one run only, the one that the first page is about.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"
#include "app/analysis/rules/run_facts.h"

#include <fmt/format.h>

namespace fp8scope::analysis::rules {
namespace {

constexpr double kWorthSaying = 0.15;  // of the step is fixed cost

/// Works on a weight or on single numbers: as long for any batch. A matrix that could be either is taken not to be a
/// weight.
bool isFixedCost(const Trace& trace, const OpTime& time, std::int64_t batch)
{
    if (time.role == Role::Optimizer)
        return true;
    if (time.family != Family::Quantization || !time.op.valid())
        return time.role == Role::Scale;
    const TraceOp& op = trace.op(time.op);
    if (op.m * op.n <= 1)
        return true;
    const bool onWeight =
        op.layer.valid() && op.m == trace.layer(op.layer).outFeatures && op.n == trace.layer(op.layer).inFeatures;
    return onWeight && op.m != batch;
}

/// Serving has other reasons for its batch.
bool isTraining(const Breakdown& run)
{
    const auto phaseNs = [&](Phase phase) { return run.phaseNs[static_cast<std::size_t>(phase)]; };
    return phaseNs(Phase::Dgrad) + phaseNs(Phase::Wgrad) + phaseNs(Phase::Optimizer) > 0;
}

}  // namespace

std::vector<Finding> largerBatch(const AdviceInput& in)
{
    const Breakdown* run = focusRun(in.runs);
    if (run == nullptr || !isTraining(*run))
        return {};
    const RunFacts facts = factsOf(in.trace, *run);
    const OpFilter isFixed = [&](const OpTime& t) { return isFixedCost(in.trace, t, facts.batch); };
    const OpSum ops = sumOps(in.trace, *run, isFixed);
    const std::int64_t idle = (*run)[Family::Idle].exposedNs;
    const std::int64_t optimizer = (*run)[Family::Optimizer].exposedNs;
    const std::int64_t fixed = ops.exposedNs + idle;
    const double share = static_cast<double>(fixed) / static_cast<double>(run->stepNs);
    if (share < kWorthSaying || facts.batch == 0)
        return {};

    Finding f{.rule = "larger-batch", .run = run->run};
    f.title =
        titleFor(facts, *run, fmt::format("Double the batch: {:.0f}% of the step does not depend on it", 100 * share));
    f.why = "The optimizer, launch gaps, scales and casts of weights cost the same for any batch; twice the samples "
            "share them.";
    f.formula = fmt::format("half of the fixed {}, for a step of today's batch of {} inside one of twice that",
                            formatTime(fixed), facts.batch * facts.microBatches);
    f.wrongIf = "memory does not hold twice the activations, or the larger batch trains worse";
    f.evidence.push_back(
        {.text = fmt::format("optimizer {}, gaps {}, scales and casts of weights {} a step", formatTime(optimizer),
                             formatTime(idle), formatTime(ops.exposedNs - optimizer)),
         .slices = longestSlices(*run, isFixed)});
    f.change = {{"batch", fmt::format("{}", 2 * facts.batch * facts.microBatches)}};
    f.options = {{"torchao", "a larger micro-batch in the data loader"},
                 {"Transformer Engine", "a larger micro-batch in the data loader"},
                 {"Megatron-LM", "--micro-batch-size"}};
    setGain(f, *run, static_cast<double>(fixed) / 2, 0.3, 0);
    return {std::move(f)};
}

}  // namespace fp8scope::analysis::rules
