// SPDX-License-Identifier: Apache-2.0
// R2, R3, R6: operands are quantized by many passes (|x|, max, to fp32, scale, clamp, cast, transpose), some of them
// twice a step. One pass for the amax and one that casts and transposes would do, once a step. Where the same file
// holds a run that does so, its figures are the estimate; else bytes moved are.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"
#include "app/analysis/rules/run_facts.h"

#include <fmt/format.h>

#include <cmath>

namespace fp8scope::analysis::rules {
namespace {

/// What the fused passes replace or change: quantization, and what they can take in. The gradients' column sums only
/// where the engine would fuse them too.
std::int64_t affectedNs(const Breakdown& run)
{
    return run[Family::Quantization].exposedNs + run.roles[static_cast<std::size_t>(Role::BiasGrad)].exposedNs +
           run.roles[static_cast<std::size_t>(Role::Activation)].exposedNs;
}

bool isMatrixPass(const Trace& trace, const OpTime& time)
{
    const bool kind = time.role == Role::Amax || time.role == Role::Cast || time.role == Role::Transpose ||
                      time.role == Role::CastTranspose;
    return kind && time.op.valid() && trace.op(time.op).m * trace.op(time.op).n > 1;
}

/// Time that the passes would take fused, from the bytes that they must move at the bandwidth that this run's passes
/// reach.
struct FusedEstimate {
    double ns = 0;
    double bytesPerSecond = 0;
    double bytes = 0;
};

FusedEstimate estimateFused(const Trace& trace, const Breakdown& run, const RunFacts& facts)
{
    double elements = 0;
    for (const Fp8Layer& layer : facts.fp8Layers)
        elements += layer.inputs() + layer.weights() + layer.gradients();
    const OpSum passes = sumOps(trace, run, [&](const OpTime& t) { return isMatrixPass(trace, t); });
    const OpSum scalars = sumOps(trace, run, withRole(Role::Scale));
    FusedEstimate estimate;
    if (passes.busyNs == 0 || passes.bytes == 0 || elements == 0)
        return estimate;
    // Cast and transpose: 2 bytes read, 1 + 1 written. Current scaling needs the amax before: 2 read. Delayed: in the
    // same pass.
    estimate.bytes = elements * (facts.delayedRecipe ? 4 : 6);
    estimate.bytesPerSecond = passes.bytes * 1e9 / static_cast<double>(passes.busyNs);
    const double scaleKernels = facts.delayedRecipe ? 1 : 3.0 * static_cast<double>(facts.fp8Layers.size());
    const double scalarNs = scalars.count > 0 ? static_cast<double>(scalars.exposedNs) / scalars.count : 0;
    estimate.ns = estimate.bytes / estimate.bytesPerSecond * 1e9 + scaleKernels * scalarNs;
    return estimate;
}

Finding describe(const AdviceInput& in, const Breakdown& run, const RunFacts& facts)
{
    const OpFilter isPass = [&](const OpTime& t) { return isMatrixPass(in.trace, t); };
    const OpSum passes = sumOps(in.trace, run, isPass);
    const OpSum all = sumOps(in.trace, run, [](const OpTime& t) { return t.family == Family::Quantization; });
    const double operands = 3.0 * static_cast<double>(facts.fp8Layers.size());

    Finding f{.rule = "fuse-casts", .run = run.run};
    f.title =
        titleFor(facts, run,
                 facts.eagerCasts ? fmt::format("Fuse amax, cast and transpose: {:.0f} quantization kernels, {} a step",
                                                all.count, formatTime(all.exposedNs))
                                  : fmt::format("Fuse cast and transpose: {:.0f} quantization kernels, {} a step",
                                                all.count, formatTime(all.exposedNs)));
    f.why = operands > 0 ? fmt::format("Quantization runs {:.0f} passes over each operand; {} would do.",
                                       std::ceil(passes.count / operands), facts.delayedRecipe ? "one" : "two")
                         : "Quantization runs more passes over each operand than it needs.";
    f.evidence.push_back(
        {.text = fmt::format("{:.0f} kernels a step make fp8 operands, {} exposed, {:.1f}% of the step, moving {}",
                             all.count, formatTime(all.exposedNs), 100 * run.quantizationTax,
                             formatBytes(static_cast<std::uint64_t>(passes.bytes))),
         .slices = longestSlices(run, isPass)});
    if (facts.eagerCasts)
        f.change.push_back({"fusion.cast_chain", "true"});
    f.change.push_back({"fusion.cast_transpose", "true"});
    f.options = {{"torchao", "torch.compile(model)"},
                 {"Transformer Engine",
                  "cast and transpose are fused by default; leave disable_parameter_transpose_cache unset"},
                 {"Megatron-LM", "--keep-fp8-transpose-cache (Megatron-FSDP)"}};
    return f;
}

void estimateFromSibling(const Trace& trace, const Breakdown& run, const RunFacts& facts, const Breakdown& fused,
                         Finding& f)
{
    const RunFacts fusedFacts = factsOf(trace, fused);
    if (fusedFacts.biasGradientInCast && !facts.biasGradientInCast)
        f.change.push_back({"fusion.dbias_cast_transpose", "true"});
    if (fusedFacts.activationCasts && !facts.activationCasts)
        f.change.push_back({"fusion.act_cast", "true"});
    const auto before = static_cast<double>(affectedNs(run));
    const auto after = static_cast<double>(affectedNs(fused));
    f.formula = fmt::format("measured: quantization, bias gradients and activations take {} in {} and {} in {}",
                            formatTime(std::llround(before)), run.mode, formatTime(std::llround(after)), fused.mode);
    f.evidence.push_back(
        {.text = fmt::format("{} of this file does so: quantization takes {} a step there", fused.mode,
                             formatTime(fused[Family::Quantization].exposedNs)),
         .slices = longestSlices(fused, [](const OpTime& t) { return t.family == Family::Quantization; })});
    f.wrongIf = "the two runs differ in more than these fusions";
    const double gain = before - after;
    const double noise = before * run.steps.relativeNoise() + after * fused.steps.relativeNoise();
    f.gainNs = std::llround(std::max(0.0, gain));
    f.gain = {std::max(0.0, gain - noise), std::max(0.0, gain + noise)};
}

void estimateFromBytes(const Trace& trace, const Breakdown& run, const RunFacts& facts, Finding& f)
{
    const FusedEstimate fused = estimateFused(trace, run, facts);
    const auto before = static_cast<double>(run[Family::Quantization].exposedNs);
    if (fused.ns == 0)
        return;
    f.formula = fmt::format(
        "exposed quantization less {} bytes an element of X, W and dY ({}) at the {} that these passes reach now; the "
        "interval takes 1.5 times and two thirds of that bandwidth",
        facts.delayedRecipe ? 4 : 6, formatBytes(static_cast<std::uint64_t>(fused.bytes)),
        formatBandwidth(fused.bytesPerSecond));
    f.wrongIf = "the passes are bound by launches or arithmetic, not by memory";
    f.gainNs = std::llround(std::max(0.0, before - fused.ns));
    f.gain = {std::max(0.0, before - 1.5 * fused.ns), std::max(0.0, before - fused.ns / 1.5)};
}

}  // namespace

std::vector<Finding> fuseCasts(const AdviceInput& in)
{
    std::vector<Finding> findings;
    for (const Breakdown& run : in.runs) {
        const RunFacts facts = factsOf(in.trace, run);
        if (run.stepNs == 0 || !facts.castsAreUnfused())
            continue;
        Finding f = describe(in, run, facts);
        if (const Breakdown* fused = fusedSibling(in, run, facts))
            estimateFromSibling(in.trace, run, facts, *fused, f);
        else
            estimateFromBytes(in.trace, run, facts, f);
        if (f.gainNs > 0)
            findings.push_back(std::move(f));
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
