// SPDX-License-Identifier: Apache-2.0
// R11: bias gradients are summed by kernels of their own. Where dY is cast and transposed in one pass, that pass can
// sum them; without fp8 there is no such pass, and only training without biases saves them. While casts are still
// separate passes, fuse_casts.cpp counts the sums in, so that no gain is named twice.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"
#include "app/analysis/rules/run_facts.h"

#include <fmt/format.h>

namespace fp8scope::analysis::rules {
namespace {

constexpr double kWorthFusing = 0.01;        // of the step
constexpr double kWorthAnotherModel = 0.03;  // of the step: a model without biases is a larger change than a fusion

Finding common(const Breakdown& run, const OpSum& sums)
{
    Finding f{.rule = "bias-gradient", .run = run.run};
    f.evidence.push_back(
        {.text = fmt::format("{:.0f} kernels a step sum the columns of dY, {} exposed, {:.1f}% of the step", sums.count,
                             formatTime(sums.exposedNs),
                             100.0 * static_cast<double>(sums.exposedNs) / static_cast<double>(run.stepNs)),
         .slices = longestSlices(run, withRole(Role::BiasGrad))});
    return f;
}

/// The cast of dY reads the same matrix anyway.
Finding fuseIntoCast(const Breakdown& run, const RunFacts& facts, const OpSum& sums)
{
    Finding f = common(run, sums);
    f.title = titleFor(facts, run,
                       fmt::format("Sum bias gradients in the cast of dY: {:.0f} separate kernels, {} a step",
                                   sums.count, formatTime(sums.exposedNs)));
    f.why = "The pass that casts and transposes dY reads the matrix whose columns are summed here once more.";
    f.formula =
        "exposed time of the column sums, as measured; the interval allows 30% for what the cast's pass gets slower";
    f.wrongIf = "the cast of dY is bound by arithmetic, not by memory";
    f.change = {{"fusion.dbias_cast_transpose", "true"}};
    f.options = {{"Transformer Engine", "fused cast+transpose+dbias is the default of te.Linear with bias in fp8"},
                 {"Megatron-LM", "--disable-bias-linear removes biases and their gradients"}};
    setGain(f, run, static_cast<double>(sums.exposedNs), 0.3, 0);
    return f;
}

Finding trainWithoutBias(const Breakdown& run, const RunFacts& facts, const OpSum& sums)
{
    Finding f = common(run, sums);
    f.title = titleFor(facts, run,
                       fmt::format("Train without biases: their gradients take {} a step", formatTime(sums.exposedNs)));
    f.why = "Large models of today mostly train without biases in their linear layers; in 16 bit no other kernel can "
            "take over the "
            "column sums.";
    f.formula = "exposed time of the column sums, as measured";
    f.wrongIf = "the model needs its biases";
    f.change = {{"bias", "false"}};
    f.options = {{"torchao", "nn.Linear(..., bias=False)"},
                 {"Transformer Engine", "te.Linear(..., bias=False)"},
                 {"Megatron-LM", "--disable-bias-linear"}};
    setGain(f, run, static_cast<double>(sums.exposedNs), 0.1, 0.1);
    return f;
}

}  // namespace

std::vector<Finding> biasGradient(const AdviceInput& in)
{
    std::vector<Finding> findings;
    for (const Breakdown& run : in.runs) {
        const OpSum sums = sumOps(in.trace, run, withRole(Role::BiasGrad));
        if (sums.count < 1)
            continue;
        const double share = static_cast<double>(sums.exposedNs) / static_cast<double>(run.stepNs);
        const RunFacts facts = factsOf(in.trace, run);
        if (!facts.usesFp8 && share >= kWorthAnotherModel)
            findings.push_back(trainWithoutBias(run, facts, sums));
        else if (facts.usesFp8 && facts.castsAreFused() && share >= kWorthFusing)
            findings.push_back(fuseIntoCast(run, facts, sums));
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
