// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/repeats.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fp8scope::analysis {
namespace {

bool repeatEachOther(const Run& a, const Run& b)
{
    return a.mode == b.mode && a.origin == b.origin && !a.configToml.empty() && a.configToml == b.configToml;
}

/// The one whose steps are to stand for all: of those with steps, the median nearest to that of all.
const StepSummary& typicalOf(const std::vector<StepSummary>& repeats, double medianNs)
{
    const auto distance = [&](const StepSummary& s) {
        return s.empty() ? INFINITY : std::abs(static_cast<double>(s.medianNs) - medianNs);
    };
    return *std::min_element(repeats.begin(), repeats.end(),
                             [&](const StepSummary& a, const StepSummary& b) { return distance(a) < distance(b); });
}

void summarize(RunGroup& group)
{
    if (group.repeats.size() == 1) {
        group.steps = group.repeats.front();
        return;
    }
    const Estimate estimate = bootstrapMedian(group.durations());
    group.steps = typicalOf(group.repeats, estimate.value);
    group.steps.medianNs = std::llround(estimate.value);
    group.steps.interval = estimate.interval;
    group.steps.repeats = 0;
    group.steps.stepsOfAllRepeats = 0;
    for (const StepSummary& repeat : group.repeats) {
        group.steps.repeats += repeat.empty() ? 0 : 1;
        group.steps.stepsOfAllRepeats += static_cast<std::uint32_t>(repeat.used.size());
    }
}

}  // namespace

std::vector<Durations> RunGroup::durations() const
{
    std::vector<Durations> all;
    for (const StepSummary& repeat : repeats) {
        if (repeat.empty())
            continue;
        Durations& durations = all.emplace_back();
        for (const Step& step : repeat.used)
            durations.push_back(step.durNs);
    }
    return all;
}

std::vector<RunGroup> runGroups(const Trace& trace, StepLimit limit)
{
    std::vector<RunGroup> groups;
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        const Run& run = trace.runs[r];
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const RunGroup& g) { return repeatEachOther(trace.run(g.runs.front()), run); });
        if (group == groups.end())
            group = groups.insert(groups.end(), {.mode = run.mode});
        group->runs.emplace_back(r);
        group->repeats.push_back(summarizeSteps(trace, RunId(r), limit));
    }
    for (RunGroup& group : groups)
        summarize(group);
    return groups;
}

StepDifference stepDifference(const RunGroup& from, const RunGroup& to)
{
    const Estimate estimate = bootstrapDifference(from.durations(), to.durations());
    return {estimate.value, estimate.interval};
}

bool isVariant(std::string_view mode) { return mode.find('+') != std::string_view::npos; }

void dropCrowdOfVariants(std::vector<RunGroup>& groups)
{
    constexpr std::size_t kMostModes = 4;
    if (groups.size() <= kMostModes)
        return;
    const bool onlyVariants =
        std::all_of(groups.begin(), groups.end(), [](const RunGroup& g) { return isVariant(g.mode); });
    if (!onlyVariants)
        std::erase_if(groups, [](const RunGroup& g) { return isVariant(g.mode); });
}

}  // namespace fp8scope::analysis
