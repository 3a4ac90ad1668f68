// SPDX-License-Identifier: Apache-2.0
// R10: biases are added by kernels of their own, which read and write the whole output once more; the GEMM can add them
// for nothing as it writes it.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"
#include "app/analysis/rules/run_facts.h"

#include <fmt/format.h>

namespace fp8scope::analysis::rules {
namespace {

constexpr double kWorthSaying =
    0.005;  // of the step; public reports of this fix start at 1% (TensorRT-LLM PR 18321: 1.3%)

Finding finding(const Breakdown& run, const RunFacts& facts, const OpSum& bias)
{
    Finding f{.rule = "bias-epilogue", .run = run.run};
    f.title = titleFor(facts, run,
                       fmt::format("Put the bias into the GEMM's epilogue: {:.0f} separate bias kernels, {} a step",
                                   bias.count, formatTime(bias.exposedNs)));
    f.why = "Each reads and writes a layer's whole output once more. The GEMM can add the bias as it writes the "
            "output. Without "
            "biases the time goes as well, but then the model is another.";
    f.formula = "exposed time of the bias kernels, as measured; the interval allows 15% for the epilogue's own work";
    f.wrongIf =
        "the GEMM library has no bias epilogue for these types or picks a slower kernel for it (fp32 output has none)";
    f.evidence.push_back(
        {.text = fmt::format("{:.0f} bias kernels a step, {} exposed, {:.1f}% of the step", bias.count,
                             formatTime(bias.exposedNs),
                             100.0 * static_cast<double>(bias.exposedNs) / static_cast<double>(run.stepNs)),
         .slices = longestSlices(run, withRole(Role::Bias))});
    f.change = {{"fusion.bias_epilogue", "true"}};
    f.options = {{"torchao", "torch.compile(model); the rowwise recipe takes a bias with bf16 output only"},
                 {"Transformer Engine",
                  "te.Linear adds the bias in cuBLASLt's epilogue (EPILOGUE_BIAS, GELU_BIAS); or bias=False"},
                 {"Megatron-LM", "--disable-bias-linear"}};
    setGain(f, run, static_cast<double>(bias.exposedNs), 0.15, 0);
    return f;
}

}  // namespace

std::vector<Finding> biasEpilogue(const AdviceInput& in)
{
    std::vector<Finding> findings;
    for (const Breakdown& run : in.runs) {
        const OpSum bias = sumOps(in.trace, run, withRole(Role::Bias));
        if (bias.count < 1 || static_cast<double>(bias.exposedNs) < kWorthSaying * static_cast<double>(run.stepNs))
            continue;
        findings.push_back(finding(run, factsOf(in.trace, run), bias));
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
