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

void addLag(const TensorStat& stat, TensorNumerics& t)
{
    constexpr double kRounding = 1 + 1e-5;  // a current scale puts amax on the largest value but for rounding
    const double largest = largestOf(stat.format);
    const double overshoot = largest > 0 ? stat.amax * stat.scale / largest : 0;
    if (!(overshoot > kRounding))
        return;
    ++t.lagSteps;
    if (overshoot > t.worstOvershoot) {
        t.worstOvershoot = overshoot;
        t.worstLagStep = stat.step;
    }
}

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
        t.sqnrMinDb = sums.sqnrCount == 0 ? stat.sqnrDb : std::min(t.sqnrMinDb, stat.sqnrDb);
        sums.sqnr += stat.sqnrDb;
        ++sums.sqnrCount;
    }
    addLag(stat, t);
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
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    t.sqnrDb = sums.sqnrCount > 0 ? sums.sqnr / sums.sqnrCount : kUnknown;
    t.sqnrMinDb = sums.sqnrCount > 0 ? t.sqnrMinDb : kUnknown;
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
    const auto noise = [](const TensorNumerics& t) { return std::isnan(t.sqnrDb) ? INFINITY : t.sqnrDb; };
    std::stable_sort(tensors.begin(), tensors.end(), [&](const TensorNumerics& a, const TensorNumerics& b) {
        return a.lossShare() != b.lossShare() ? a.lossShare() > b.lossShare() : noise(a) < noise(b);
    });
    return tensors;
}

double largestOf(std::string_view format)
{
    constexpr double kLargestE4m3 = 448, kLargestE5m2 = 57344;
    return format == "e4m3" ? kLargestE4m3 : format == "e5m2" ? kLargestE5m2 : 0;
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

std::vector<StepPoint> stepFigures(const Trace& trace, RunId run, std::string_view name)
{
    std::vector<StepPoint> figures;
    for (const StepValue& value : trace.stepValues) {
        if (value.run == run && value.name == name)
            figures.push_back({value.step, value.value});
    }
    std::stable_sort(figures.begin(), figures.end(),
                     [](const StepPoint& a, const StepPoint& b) { return a.step < b.step; });
    return figures;
}

std::vector<ShadowError> shadowErrors(const Trace& trace, RunId run)
{
    std::map<std::string, ShadowError> byTensor;
    for (const TensorError& error : trace.tensorErrors) {
        if (error.run != run || !std::isfinite(error.relativeError))
            continue;
        ShadowError& sum = byTensor[error.tensor];
        sum.tensor = error.tensor;
        sum.mean += error.relativeError;  // divided below
        ++sum.steps;
        if (error.relativeError > sum.worst) {
            sum.worst = error.relativeError;
            sum.worstStep = error.step;
        }
    }
    std::vector<ShadowError> errors;
    for (auto& [tensor, sum] : byTensor) {
        sum.mean /= sum.steps;
        errors.push_back(std::move(sum));
    }
    std::stable_sort(errors.begin(), errors.end(),
                     [](const ShadowError& a, const ShadowError& b) { return a.mean > b.mean; });
    return errors;
}

Magnitudes magnitudesOf(const Trace& trace, RunId run, std::string_view tensor)
{
    std::map<std::int32_t, double> elements;
    Magnitudes result;
    double total = 0;
    for (const ExponentHistogram& h : trace.histograms) {
        if (h.run != run || h.tensor != tensor)
            continue;
        ++result.steps;
        for (std::size_t i = 0; i < h.counts.size(); ++i) {
            elements[h.firstExponent + static_cast<std::int32_t>(i)] += static_cast<double>(h.counts[i]);
            total += static_cast<double>(h.counts[i]);
        }
    }
    if (total <= 0)
        return result;
    result.firstExponent = elements.begin()->first;
    result.shares.resize(static_cast<std::size_t>(elements.rbegin()->first - result.firstExponent) + 1);
    for (const auto& [exponent, count] : elements)
        result.shares[static_cast<std::size_t>(exponent - result.firstExponent)] = count / total;
    for (const TensorStat& stat : trace.tensorStats) {
        if (stat.run != run || stat.tensor != tensor || !(stat.scale > 0))
            continue;
        constexpr double kSmallestE4m3 = -10, kSmallestE5m2 = -17;  // half the least subnormal rounds to zero
        result.largestExponent = std::log2(largestOf(stat.format) / stat.scale);
        result.smallestExponent = (stat.format == "e4m3" ? kSmallestE4m3 : kSmallestE5m2) - std::log2(stat.scale);
    }
    return result;
}

}  // namespace fp8scope::analysis
