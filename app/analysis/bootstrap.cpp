// SPDX-License-Identifier: Apache-2.0
// Efron and Tibshirani, "An Introduction to the Bootstrap", 1993: percentile intervals (13.3), clusters (8.3).
#include "app/analysis/bootstrap.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::analysis {
namespace {

constexpr int kResamples = 1000;
constexpr std::size_t kMostSteps = 5000;  ///< of all repeats; of more, every k-th: the interval gets wider, not wrong
constexpr std::uint64_t kSeed = 20261201;

/// splitmix64: what <random>'s distributions give differs between standard libraries.
class Draws {
public:
    std::size_t below(std::size_t n)
    {
        std::uint64_t z = (m_state += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return static_cast<std::size_t>((z ^ (z >> 31U)) % n);
    }

private:
    std::uint64_t m_state = kSeed;
};

double medianOf(Durations& values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return static_cast<double>(*middle);
    const std::int64_t below = *std::max_element(values.begin(), middle);
    return (static_cast<double>(below) + static_cast<double>(*middle)) / 2;
}

std::vector<Durations> thinned(std::span<const Durations> repeats)
{
    std::size_t steps = 0;
    for (const Durations& repeat : repeats)
        steps += repeat.size();
    const std::size_t stride = (steps + kMostSteps - 1) / kMostSteps;
    std::vector<Durations> few(repeats.size());
    for (std::size_t r = 0; r < repeats.size(); ++r) {
        for (std::size_t i = 0; i < repeats[r].size(); i += std::max<std::size_t>(stride, 1))
            few[r].push_back(repeats[r][i]);
    }
    return few;
}

/// The steps of the chosen repeats, each redrawn with replacement.
double redrawnMedian(const std::vector<Durations>& repeats, const std::vector<std::size_t>& chosen, Draws& draws,
                     Durations& pool)
{
    pool.clear();
    for (const std::size_t r : chosen) {
        for (std::size_t i = 0; i < repeats[r].size(); ++i)
            pool.push_back(repeats[r][draws.below(repeats[r].size())]);
    }
    return medianOf(pool);
}

double pooledMedian(std::span<const Durations> repeats)
{
    Durations all;
    for (const Durations& repeat : repeats)
        all.insert(all.end(), repeat.begin(), repeat.end());
    return medianOf(all);
}

/// The middle 95% of `statistic(chosen repeats)` over many resamples.
template <typename Statistic>
Interval resampled(std::size_t repeats, Draws& draws, const Statistic& statistic)
{
    std::vector<double> results;
    std::vector<std::size_t> chosen(repeats);
    for (int i = 0; i < kResamples; ++i) {
        for (std::size_t& r : chosen)
            r = draws.below(repeats);
        results.push_back(statistic(chosen));
    }
    std::sort(results.begin(), results.end());
    const auto at = [&](double share) { return results[static_cast<std::size_t>(share * (kResamples - 1))]; };
    return {at(0.025), at(0.975)};
}

/// What drawing n of n repeats varies too little by.
double widening(std::size_t repeats)
{
    const auto n = static_cast<double>(repeats);
    return repeats > 1 ? std::sqrt(n / (n - 1)) : 1;
}

}  // namespace

Estimate bootstrapMedian(std::span<const Durations> repeats)
{
    Estimate estimate{.value = pooledMedian(repeats), .interval = {}};
    const std::vector<Durations> few = thinned(repeats);
    if (few.empty())
        return estimate;
    Draws draws;
    Durations pool;
    const Interval drawn = resampled(few.size(), draws, [&](const std::vector<std::size_t>& chosen) {
        return redrawnMedian(few, chosen, draws, pool);
    });
    // As a ratio: a time is never below zero.
    const double wider = widening(few.size());
    const auto widened = [&](double bound) {
        return bound > 0 && estimate.value > 0 ? estimate.value * std::pow(bound / estimate.value, wider) : bound;
    };
    estimate.interval = {std::min(widened(drawn.low), estimate.value), std::max(widened(drawn.high), estimate.value)};
    return estimate;
}

Estimate bootstrapDifference(std::span<const Durations> from, std::span<const Durations> to)
{
    const std::size_t pairs = std::min(from.size(), to.size());
    const auto fromPaired = from.first(pairs), toPaired = to.first(pairs);
    Estimate estimate{.value = pooledMedian(toPaired) - pooledMedian(fromPaired), .interval = {}};
    if (pairs == 0)
        return estimate;
    const std::vector<Durations> fromFew = thinned(fromPaired), toFew = thinned(toPaired);
    Draws draws;
    Durations pool;
    const Interval drawn = resampled(pairs, draws, [&](const std::vector<std::size_t>& chosen) {
        const double fromMedian = redrawnMedian(fromFew, chosen, draws, pool);
        return redrawnMedian(toFew, chosen, draws, pool) - fromMedian;
    });
    const double wider = widening(pairs);
    estimate.interval = {estimate.value - wider * std::max(0.0, estimate.value - drawn.low),
                         estimate.value + wider * std::max(0.0, drawn.high - estimate.value)};
    return estimate;
}

}  // namespace fp8scope::analysis
