// SPDX-License-Identifier: Apache-2.0
// The activation's output is read again at once, to find its amax (current scaling) or to cast it (delayed scaling).
// The activation kernel has it in registers. Only said once the casts themselves are fused: before that, fuse_casts.cpp
// says more.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"
#include "app/analysis/rules/run_facts.h"

#include <fmt/format.h>

namespace fp8scope::analysis::rules {
namespace {

constexpr double kWorthSaying = 0.005;  // of the step

/// A pass over the input of a layer that is not the first: it reads what an activation wrote.
OpFilter readsAnActivation(const Trace& trace, Role role)
{
    return [&trace, role](const OpTime& time) {
        if (time.role != role || !time.op.valid())
            return false;
        const TraceOp& op = trace.op(time.op);
        return op.phase == Phase::Forward && op.layer.valid() && trace.layer(op.layer).index > 0 && op.m * op.n > 1 &&
               op.n == trace.layer(op.layer).inFeatures && !op.name.ends_with("_w");
    };
}

}  // namespace

std::vector<Finding> actCast(const AdviceInput& in)
{
    std::vector<Finding> findings;
    for (const Breakdown& run : in.runs) {
        const RunFacts facts = factsOf(in.trace, run);
        const bool hasActivation = run.roles[static_cast<std::size_t>(Role::Activation)].busyNs > 0;
        if (!facts.usesFp8 || !hasActivation || facts.activationCasts || facts.castsAreUnfused())
            continue;
        const OpFilter reads = readsAnActivation(in.trace, facts.delayedRecipe ? Role::CastTranspose : Role::Amax);
        const OpSum passes = sumOps(in.trace, run, reads);
        // Current scaling: the amax pass goes. Delayed: the cast's read goes and the bf16 result is never written, 2 +
        // 2 of the 2 + 1 + 1 bytes of a pass and of the 2 that the activation writes; at equal bandwidth that is as
        // long as the pass.
        const double share = static_cast<double>(passes.exposedNs) / static_cast<double>(run.stepNs);
        if (passes.count < 1 || share < kWorthSaying)
            continue;
        Finding f{.rule = "act-cast", .run = run.run};
        f.title = titleFor(facts, run,
                           fmt::format("Let the activation {}: {:.0f} more passes, {} a step",
                                       facts.delayedRecipe ? "cast its output" : "find its output's amax", passes.count,
                                       formatTime(passes.exposedNs)));
        f.why = "Each of these passes reads what an activation kernel has just written.";
        f.formula =
            "exposed time of these passes, as measured; the interval allows 30% for what the activation gets slower";
        f.wrongIf = "the activation is bound by arithmetic, not by memory";
        f.evidence.push_back({.text = fmt::format("{:.0f} passes a step over activations, {} exposed", passes.count,
                                                  formatTime(passes.exposedNs)),
                              .slices = longestSlices(run, reads)});
        f.change = {{"fusion.act_cast", "true"}};
        f.options = {{"torchao", "torch.compile(model)"}};
        setGain(f, run, static_cast<double>(passes.exposedNs), 0.3, 0);
        findings.push_back(std::move(f));
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
