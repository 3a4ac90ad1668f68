// SPDX-License-Identifier: Apache-2.0
// Finds the steps of a run that count: drops declared warm-up and what still behaves like it, then takes the median.
#include "app/analysis/steps.h"

#include "app/analysis/warmup.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::analysis {
namespace {

std::vector<Step> stepsOf(const Trace& trace, RunId run)
{
    std::vector<Step> steps;
    for (const Step& step : trace.steps) {
        if (step.run == run && step.durNs > 0)
            steps.push_back(step);
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.startNs < b.startNs; });
    return steps;
}

std::vector<std::int64_t> sortedDurations(const std::vector<Step>& steps)
{
    std::vector<std::int64_t> durations;
    durations.reserve(steps.size());
    for (const Step& step : steps)
        durations.push_back(step.durNs);
    std::sort(durations.begin(), durations.end());
    return durations;
}

std::int64_t medianOfSorted(const std::vector<std::int64_t>& sorted)
{
    if (sorted.empty())
        return 0;
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2;
}

std::size_t findWarmup(const std::vector<Step>& steps)
{
    std::vector<std::int64_t> durations;
    for (const Step& step : steps)
        durations.push_back(step.durNs);
    return warmupSteps(durations);
}

/// The 95% interval of the median by order statistics: the r-th smallest and r-th largest, with the largest r for which
/// P(Binomial(n, 1/2) < r) <= 2.5%. Below 6 values no such r exists; then smallest and largest.
Interval medianInterval(const std::vector<std::int64_t>& sorted)
{
    if (sorted.empty())
        return {};
    const auto n = static_cast<double>(sorted.size());
    std::size_t rank = 1;
    double tail = 0;  // P(Binomial < rank), by logarithms so that n may be large
    for (std::size_t i = 0; i < sorted.size() / 2; ++i) {
        const auto k = static_cast<double>(i);
        tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
        if (tail > 0.025)
            break;
        rank = i + 1;
    }
    return {static_cast<double>(sorted[rank - 1]), static_cast<double>(sorted[sorted.size() - rank])};
}

/// What the importer or attribute() said of where the steps come from.
std::string sourceOf(const Trace& trace, RunId run)
{
    const auto said = std::find_if(trace.diagnostics.begin(), trace.diagnostics.end(),
                                   [&](const Diagnostic& d) { return d.run == run && d.name == "steps"; });
    return said == trace.diagnostics.end() ? "engine steps" : said->text;
}

}  // namespace

StepSummary summarizeSteps(const Trace& trace, RunId run, StepLimit limit)
{
    StepSummary summary;
    summary.run = run;
    summary.source = sourceOf(trace, run);
    const std::vector<Step> all = stepsOf(trace, run);
    summary.totalCount = static_cast<std::uint32_t>(all.size());

    std::vector<Step> settled;
    std::copy_if(all.begin(), all.end(), std::back_inserter(settled), [](const Step& s) { return !s.warmup; });
    settled.erase(settled.begin(), settled.begin() + static_cast<std::ptrdiff_t>(findWarmup(settled)));
    summary.warmupCount = static_cast<std::uint32_t>(all.size() - settled.size());

    const auto inLimit = [&](const Step& s) { return s.index >= limit.first && s.index <= limit.last; };
    std::copy_if(settled.begin(), settled.end(), std::back_inserter(summary.used), inLimit);
    const bool limited = limit.first != 0 || limit.last != UINT32_MAX;
    if (summary.used.empty() && limited)  // who asks for warm-up steps by number shall see them
        std::copy_if(all.begin(), all.end(), std::back_inserter(summary.used), inLimit);

    summary.stepsOfAllRepeats = static_cast<std::uint32_t>(summary.used.size());

    const std::vector<std::int64_t> durations = sortedDurations(summary.used);
    summary.medianNs = medianOfSorted(durations);
    summary.interval = medianInterval(durations);
    return summary;
}

}  // namespace fp8scope::analysis
