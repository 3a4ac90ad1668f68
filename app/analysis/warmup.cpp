// SPDX-License-Identifier: Apache-2.0
// Change-points by the likelihood ratio of one mean against two (Hinkley 1970), which for steps of spread sigma is
// k (n - k) / n * (mean before - mean after)^2 / sigma^2, largest over k. After each found one the rest is searched
// again: warm-up falls in several steps as caches, clocks and just-in-time compilers settle.
#include "app/analysis/warmup.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fp8scope::analysis {
namespace {

constexpr std::size_t kFewestSteps = 6;
constexpr double kLeastSpread = 0.01;  ///< of the median: less than a clock's and a scheduler's jitter
constexpr double kLeastShift = 0.02;   ///< of the median: a smaller one is not worth a step
/// In sigmas: a step beyond counts as that far. So one slow first step is a change, and one slow step later is not.
constexpr double kFarthest = 5;

double medianOf(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Steps in units of the settled spread, around the settled median: both are the later half's.
struct Standardized {
    std::vector<double> z;
    double leastShift = 0;
};

Standardized standardize(std::span<const std::int64_t> durations)
{
    const std::vector<double> settled(durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2),
                                      durations.end());
    const double median = medianOf(settled);
    std::vector<double> deviations;
    for (const double d : settled)
        deviations.push_back(std::abs(d - median));
    constexpr double kMadToSigma = 1.4826;
    const double sigma = std::max({kMadToSigma * medianOf(std::move(deviations)), kLeastSpread * median, 1e-9});
    Standardized result{.z = {}, .leastShift = kLeastShift * median / sigma};
    for (const std::int64_t d : durations)
        result.z.push_back(std::clamp((static_cast<double>(d) - median) / sigma, -kFarthest, kFarthest));
    return result;
}

/// The most likely place at which the mean falls, among the first `most`; 0 if none is likely enough.
std::size_t changePoint(std::span<const double> z, std::size_t most, double leastShift)
{
    const auto n = static_cast<double>(z.size());
    double rest = 0;
    for (const double v : z)
        rest += v;
    double before = 0, best = std::min(3 + 3 * std::log(n), 20.0);  // a chance find passes it in under 5% of runs
    std::size_t at = 0;
    for (std::size_t i = 0; i < most; ++i) {
        before += z[i];
        rest -= z[i];
        const auto k = static_cast<double>(i + 1);
        const double shift = before / k - rest / (n - k);
        const double ratio = k * (n - k) / n * shift * shift;
        if (shift >= leastShift && ratio > best) {
            best = ratio;
            at = i + 1;
        }
    }
    return at;
}

}  // namespace

std::size_t warmupSteps(std::span<const std::int64_t> durations)
{
    if (durations.size() < kFewestSteps)
        return 0;
    const Standardized steps = standardize(durations);
    const std::size_t most = durations.size() / 2;
    std::size_t count = 0;
    while (count < most) {
        const std::size_t more = changePoint(std::span(steps.z).subspan(count), most - count, steps.leastShift);
        if (more == 0)
            break;
        count += more;
    }
    return count;
}

}  // namespace fp8scope::analysis
