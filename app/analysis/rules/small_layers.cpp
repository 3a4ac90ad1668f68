// SPDX-License-Identifier: Apache-2.0
// R7: layers whose fp8 GEMMs plus quantization take longer than their 16-bit GEMMs did, layer by layer, as measured.
// On a device without FP8 units that is so for every layer; there only those stand out whose quantization alone takes
// longer than their GEMMs, which no fp8 rate could make up for.
#include "app/analysis/layers.h"
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"
#include "app/analysis/rules/run_facts.h"
#include "collector/trace/error.h"
#include "engine/plan/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fp8scope::analysis::rules {
namespace {

struct SmallLayer {
    std::string name;
    std::int64_t outFeatures = 0;
    LayerCost fp8;
    std::int64_t gemm16Ns = 0;
    [[nodiscard]] std::int64_t lossNs() const { return fp8.gemmNs + fp8.quantizationNs - gemm16Ns; }
};

std::vector<SmallLayer> smallLayers(const std::vector<LayerRow>& table, std::size_t base, std::size_t run,
                                    bool hasFp8Units, double noise)
{
    std::vector<SmallLayer> found;
    for (const LayerRow& row : table) {
        const LayerCost& cost = row.costs[run];
        const bool runsInFp8 = cost.layer.valid() && cost.gemmNs > 0 && cost.quantizationNs > 0;
        const SmallLayer layer{row.name, row.outFeatures, cost, row.costs[base].gemmNs};
        if (!runsInFp8 || layer.gemm16Ns == 0)
            continue;
        const bool loses = static_cast<double>(layer.lossNs()) > noise * static_cast<double>(layer.gemm16Ns);
        if (loses && (hasFp8Units || cost.quantizationNs > cost.gemmNs))
            found.push_back(layer);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const SmallLayer& a, const SmallLayer& b) { return a.lossNs() > b.lossNs(); });
    return found;
}

/// The run's own list of skipped layers with these added. The configuration is a file's: it may be no valid one.
std::string skipList(const std::string& configToml, const std::vector<std::string>& names)
{
    std::vector<std::string> skip;
    try {
        skip = plan::parseConfig(configToml, "trace").filter.skip;
    } catch (const Error&) {
    }
    skip.insert(skip.end(), names.begin(), names.end());
    return fmt::format("{}", fmt::join(skip, ","));
}

Finding finding(const AdviceInput& in, const Breakdown& base, const Breakdown& run, const RunFacts& facts,
                const std::vector<SmallLayer>& layers)
{
    std::int64_t loss = 0;
    std::vector<std::string> names;
    Finding f{.rule = "small-layers", .run = run.run};
    for (const SmallLayer& layer : layers) {
        loss += layer.lossNs();
        names.push_back(layer.name);
        f.evidence.push_back(
            {.text = fmt::format("{} (N = {}): fp8 GEMMs {} + quantization {} against {} in {}", layer.name,
                                 layer.outFeatures, formatTime(layer.fp8.gemmNs), formatTime(layer.fp8.quantizationNs),
                                 formatTime(layer.gemm16Ns), base.mode),
             .slices = longestSlices(
                 run,
                 [&](const OpTime& t) {
                     return t.op.valid() && in.trace.op(t.op).layer == layer.fp8.layer &&
                            t.family == Family::Quantization;
                 },
                 2),
             .layer = layer.fp8.layer});
    }
    f.title = titleFor(facts, run,
                       layers.size() == 1 ? fmt::format("Keep {} (N = {}) in 16 bit: fp8 costs {} more there",
                                                        names.front(), layers.front().outFeatures, formatTime(loss))
                                          : fmt::format("Keep {} layers in 16 bit: fp8 costs {} more there",
                                                        layers.size(), formatTime(loss)));
    f.why = fmt::format("Too small for what it takes to make their operands fp8: {}.", fmt::join(names, ", "));
    f.formula = "measured: fp8 GEMMs plus quantization of these layers, less their GEMMs in the 16-bit run";
    f.wrongIf = "fused casts or a larger batch change the balance; see the other advice first";
    f.options = {
        {"torchao", "convert_to_float8_training(..., module_filter_fn=...), or _auto_filter_for_recipe(recipe, "
                    "filter_fqns=[...])"},
        {"Transformer Engine", "leave these modules outside of te.autocast(enabled=True)"},
        {"Megatron-LM", "--first-last-layers-bf16 --num-layers-at-start-in-bf16 N --num-layers-at-end-in-bf16 N"}};
    if (!in.trace.run(run.run).configToml.empty())
        f.change = {{"filter.skip", skipList(in.trace.run(run.run).configToml, names)}};
    const double gain = static_cast<double>(loss);
    setGain(f, run, gain, base.steps.relativeNoise(), base.steps.relativeNoise());
    return f;
}

}  // namespace

std::vector<Finding> smallLayers(const AdviceInput& in)
{
    std::vector<Finding> findings;
    const auto base = std::find_if(in.runs.begin(), in.runs.end(), isSixteenBit);
    if (base == in.runs.end())
        return findings;
    const std::vector<LayerRow> table = layerTable(in.trace, in.runs);
    const auto baseIndex = static_cast<std::size_t>(base - in.runs.begin());
    for (std::size_t r = 0; r < in.runs.size(); ++r) {
        const Breakdown& run = in.runs[r];
        if (run.stepNs == 0 || isSixteenBit(run))
            continue;
        const RunFacts facts = factsOf(in.trace, run);
        const double noise = base->steps.relativeNoise() + run.steps.relativeNoise();
        if (facts.castsAreUnfused() && fusedSibling(in, run, facts) != nullptr)
            continue;
        const std::vector<SmallLayer> found = smallLayers(table, baseIndex, r, facts.hasFp8Units, noise);
        if (!found.empty() && found.size() < facts.fp8Layers.size())
            findings.push_back(finding(in, *base, run, facts, found));
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
