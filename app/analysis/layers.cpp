// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/layers.h"

#include "app/analysis/account.h"
#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace fp8scope::analysis {
namespace {

constexpr std::uint32_t kNoLayer = UINT32_MAX;

std::uint32_t indexOf(const Trace& trace, LayerId layer) { return layer.valid() ? trace.layer(layer).index : kNoLayer; }

void describe(const Layer& layer, LayerRow& row)
{
    row.name = layer.name;
    row.inFeatures = layer.inFeatures;
    row.outFeatures = layer.outFeatures;
    // A baseline runs everything in 16 bit and has no reason to give; what an fp8 run says stands.
    if (row.precision.empty() || layer.precision == "fp8" || !layer.reason.empty()) {
        row.precision = layer.precision;
        row.reason = layer.reason;
    }
}

LayerVerdict verdict(const Breakdown& base, const LayerCost& baseCost, const Breakdown& run, const LayerCost& cost)
{
    LayerVerdict verdict;
    verdict.deltaNs = cost.totalNs() - baseCost.totalNs();
    const double noise = base.steps.relativeNoise() * static_cast<double>(baseCost.totalNs()) +
                         run.steps.relativeNoise() * static_cast<double>(cost.totalNs());
    verdict.withinNoise = static_cast<double>(std::abs(verdict.deltaNs)) <= noise;
    const std::string amount = formatTime(std::abs(verdict.deltaNs));
    if (verdict.withinNoise)
        verdict.text = fmt::format("{} takes as long as {} here, within noise", run.mode, base.mode);
    else if (verdict.deltaNs > 0)
        verdict.text = fmt::format("{} costs {} more than {} here", run.mode, amount, base.mode);
    else
        verdict.text = fmt::format("{} saves {} against {} here", run.mode, amount, base.mode);
    return verdict;
}

}  // namespace

LayerCost layerCost(const Breakdown& b, const LayerTime& time)
{
    LayerCost cost{.run = b.run, .layer = time.layer};
    cost.gemmNs = time.family(Family::GemmFp8) + time.family(Family::Gemm16) + time.family(Family::GemmOther);
    cost.quantizationNs = time.family(Family::Quantization);
    cost.biasNs = time.family(Family::Bias);
    cost.activationNs = time.family(Family::ActivationNorm);
    cost.optimizerNs = time.family(Family::Optimizer);
    cost.otherNs = time.total() - cost.totalNs();
    return cost;
}

std::vector<LayerRow> layerTable(const Trace& trace, const std::vector<Breakdown>& runs)
{
    std::map<std::uint32_t, LayerRow> rows;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        for (const LayerTime& time : runs[r].layers) {
            LayerRow& row = rows[indexOf(trace, time.layer)];
            row.costs.resize(runs.size());
            row.verdicts.resize(runs.size());
            row.costs[r] = layerCost(runs[r], time);
            if (time.layer.valid())
                describe(trace.layer(time.layer), row);
            else
                row.name = "(no layer)";
        }
    }
    const auto base = std::find_if(runs.begin(), runs.end(), isSixteenBit);
    std::vector<LayerRow> table;
    for (auto& [index, row] : rows) {
        for (std::size_t r = 0; base != runs.end() && r < runs.size(); ++r) {
            const auto baseIndex = static_cast<std::size_t>(base - runs.begin());
            if (r != baseIndex && runs[r].stepNs > 0)
                row.verdicts[r] = verdict(*base, row.costs[baseIndex], runs[r], row.costs[r]);
        }
        table.push_back(std::move(row));
    }
    return table;
}

}  // namespace fp8scope::analysis
