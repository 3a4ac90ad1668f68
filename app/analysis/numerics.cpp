// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/numerics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace fp8scope::analysis {
namespace {

/// Sums over a tensor's steps.
struct Sums {
    TensorNumerics result;
    std::uint64_t elements = 0, saturated = 0, underflowed = 0, zeros = 0;
    double sqnr = 0;
    std::uint32_t sqnrCount = 0;
};

void addStep(const TensorStat& stat, Sums& sums)
{
    TensorNumerics& t = sums.result;
    t.amaxMin = t.steps == 0 ? stat.amax : std::min(t.amaxMin, stat.amax);
    t.amaxMax = t.steps == 0 ? stat.amax : std::max(t.amaxMax, stat.amax);
    t.lastScale = stat.scale;
    ++t.steps;
    sums.elements += stat.count;
    sums.saturated += stat.saturated;
    sums.underflowed += stat.underflowed;
    sums.zeros += stat.zeros;
    if (!std::isnan(stat.sqnrDb)) {
        sums.sqnr += stat.sqnrDb;
        ++sums.sqnrCount;
    }
    const double lost =
        stat.count > 0 ? static_cast<double>(stat.saturated + stat.underflowed) / static_cast<double>(stat.count) : 0;
    if (lost > t.worstStepLoss) {
        t.worstStepLoss = lost;
        t.worstStep = stat.step;
    }
}

TensorNumerics finish(Sums sums)
{
    const auto share = [&](std::uint64_t part) {
        return sums.elements > 0 ? static_cast<double>(part) / static_cast<double>(sums.elements) : 0.0;
    };
    TensorNumerics& t = sums.result;
    t.saturatedShare = share(sums.saturated);
    t.underflowShare = share(sums.underflowed);
    t.zeroShare = share(sums.zeros);
    t.sqnrDb = sums.sqnrCount > 0 ? sums.sqnr / sums.sqnrCount : std::numeric_limits<double>::quiet_NaN();
    return t;
}

}  // namespace

std::vector<TensorNumerics> tensorNumerics(const Trace& trace, RunId run)
{
    std::map<std::pair<std::string, std::string>, Sums> byTensor;
    for (const TensorStat& stat : trace.tensorStats) {
        if (stat.run != run)
            continue;
        Sums& sums = byTensor[{stat.tensor, stat.format}];
        sums.result.run = run;
        sums.result.layer = stat.layer;
        sums.result.tensor = stat.tensor;
        sums.result.format = stat.format;
        addStep(stat, sums);
    }
    std::vector<TensorNumerics> tensors;
    for (auto& [key, sums] : byTensor)
        tensors.push_back(finish(std::move(sums)));
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const TensorNumerics& a, const TensorNumerics& b) { return a.lossShare() > b.lossShare(); });
    return tensors;
}

std::vector<LossPoint> lossCurve(const Trace& trace, RunId run)
{
    std::vector<LossPoint> curve;
    for (const Step& step : trace.steps) {
        if (step.run == run && !std::isnan(step.loss))
            curve.push_back({step.index, step.loss});
    }
    std::stable_sort(curve.begin(), curve.end(),
                     [](const LossPoint& a, const LossPoint& b) { return a.step < b.step; });
    return curve;
}

}  // namespace fp8scope::analysis
