// SPDX-License-Identifier: Apache-2.0
// R8: fp8 GEMMs need dimensions that are multiples of 16; a layer that misses runs in 16 bit. Padding its width or the
// batch by a few rows lets it run in fp8.
#include "app/analysis/layers.h"
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"
#include "app/analysis/rules/run_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fp8scope::analysis::rules {
namespace {

constexpr std::int64_t kMultiple = 16;

std::int64_t padded(std::int64_t dim) { return (dim + kMultiple - 1) / kMultiple * kMultiple; }
bool isAligned(std::int64_t dim) { return dim % kMultiple == 0; }

struct Unaligned {
    const Layer* layer = nullptr;
    LayerId id;
    std::int64_t gemmNs = 0;
};

std::vector<Unaligned> unalignedLayers(const Trace& trace, const Breakdown& run, std::int64_t batch)
{
    std::vector<Unaligned> found;
    for (const LayerTime& time : run.layers) {
        if (!time.layer.valid() || time.family(Family::GemmFp8) > 0)
            continue;
        const Layer& layer = trace.layer(time.layer);
        const bool unaligned = !isAligned(layer.inFeatures) || !isAligned(layer.outFeatures) || !isAligned(batch);
        if (unaligned && time.family(Family::Gemm16) > 0)
            found.push_back({&layer, time.layer, layerCost(run, time).gemmNs});
    }
    return found;
}

/// Widths of the run's model, each padded: "[1024, 1008]".
std::string paddedWidths(const Trace& trace, RunId run)
{
    std::vector<const Layer*> layers;
    for (const Layer& layer : trace.layers) {
        if (layer.run == run)
            layers.push_back(&layer);
    }
    std::sort(layers.begin(), layers.end(), [](const Layer* a, const Layer* b) { return a->index < b->index; });
    std::vector<std::int64_t> widths;
    for (const Layer* layer : layers) {
        if (widths.empty())
            widths.push_back(padded(layer->inFeatures));
        widths.push_back(padded(layer->outFeatures));
    }
    return fmt::format("[{}]", fmt::join(widths, ", "));
}

void addDims(const Trace& trace, const Breakdown& run, const std::vector<Unaligned>& layers, std::int64_t batch,
             Finding& f)
{
    const bool widths = std::any_of(layers.begin(), layers.end(), [](const Unaligned& u) {
        return !isAligned(u.layer->inFeatures) || !isAligned(u.layer->outFeatures);
    });
    for (const Unaligned& u : layers)
        f.evidence.push_back(
            {.text = fmt::format("{}: {} inputs, {} outputs, batch {}; GEMMs take {} a step in 16 bit", u.layer->name,
                                 u.layer->inFeatures, u.layer->outFeatures, batch, formatTime(u.gemmNs)),
             .slices = {},
             .layer = u.id});
    if (widths)
        f.change.push_back({"widths", paddedWidths(trace, run.run)});
    if (!isAligned(batch))
        f.change.push_back({"batch", fmt::format("{}", padded(batch))});
}

/// The layers' GEMMs at the device's ratio, less a quantization like that of the layers that do run in fp8.
void estimate(const AdviceInput& in, const Breakdown& run, const std::vector<Unaligned>& layers, Finding& f)
{
    const double ratio = idealGemmRatio(in.trace, run.run);
    std::int64_t gemmNs = 0;
    for (const Unaligned& u : layers)
        gemmNs += u.gemmNs;
    const double fp8Ns = static_cast<double>(gemmNs) / ratio;
    const double gain = static_cast<double>(gemmNs) - fp8Ns * (1 + run.quantizationPerFp8Gemm);
    if (ratio <= 1 || gain <= 0) {
        f.formula = "no gain is claimed: this device has no FP8 units, or quantization would take what the GEMMs gain";
        return;
    }
    f.formula = fmt::format("GEMM time of these layers ({}) less the same at {:.3g} times the rate with {:.2f} of it "
                            "for quantization, as in "
                            "the layers that run in fp8",
                            formatTime(gemmNs), ratio, run.quantizationPerFp8Gemm);
    setGain(f, run, gain, 0.5, 0.2);
}

}  // namespace

std::vector<Finding> unalignedDims(const AdviceInput& in)
{
    std::vector<Finding> findings;
    for (const Breakdown& run : in.runs) {
        // A run whose layers all miss has no fp8 GEMM; its mode still says what was asked for.
        const bool wantsFp8 = !isSixteenBit(run) || run.mode.starts_with("fp8");
        if (run.stepNs == 0 || !wantsFp8)
            continue;
        const RunFacts facts = factsOf(in.trace, run);
        const std::vector<Unaligned> layers = unalignedLayers(in.trace, run, facts.batch);
        if (layers.empty())
            continue;
        Finding f{.rule = "unaligned-dims", .run = run.run};
        f.title = titleFor(
            facts, run,
            fmt::format("{} {} in 16 bit: fp8 GEMMs need multiples of 16",
                        layers.size() == 1 ? layers.front().layer->name : fmt::format("{} layers", layers.size()),
                        layers.size() == 1 ? "runs" : "run"));
        f.why = "A width or a batch that is not a multiple of 16 keeps a layer out of fp8; the next multiple costs "
                "little more.";
        f.wrongIf = "the layer is too small to gain from fp8 once it is padded";
        f.options = {{"torchao", "Float8LinearConfig(pad_inner_dim=True)"},
                     {"Megatron-LM", "--make-vocab-size-divisible-by 128"}};
        addDims(in.trace, run, layers, facts.batch, f);
        estimate(in, run, layers, f);
        if (findings.empty() || f.gainNs > findings.front().gainNs)
            findings = {std::move(f)};
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
