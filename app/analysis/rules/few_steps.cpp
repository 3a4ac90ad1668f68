// SPDX-License-Identifier: Apache-2.0
// Notes: too few steps were measured for a 95% interval, or they vary so much that small differences mean nothing.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace fp8scope::analysis::rules {
namespace {

constexpr std::size_t kEnoughSteps = 10;  // below 6 there is no 95% interval of the median at all
constexpr double kWideInterval = 0.10;    // half width; differences of this size cannot be told from chance

using Runs = std::vector<const Breakdown*>;

std::string modes(const Runs& runs)
{
    std::vector<std::string> names;
    std::transform(runs.begin(), runs.end(), std::back_inserter(names), [](const Breakdown* run) { return run->mode; });
    return fmt::format("{}", fmt::join(names, ", "));
}

Finding note(const Runs& runs, std::string title, std::string why)
{
    Finding f{.rule = "few-steps", .run = runs.front()->run, .title = std::move(title), .why = std::move(why)};
    f.formula = "no gain: the runs get no faster, their figures get surer";
    f.wrongIf = "the differences of interest are far larger than the intervals";
    for (const Breakdown* run : runs)
        f.evidence.push_back(
            {.text = fmt::format("{}: {} of {} steps used, median {}, interval {} to {}", run->mode,
                                 run->steps.used.size(), run->steps.totalCount, formatTime(run->steps.medianNs),
                                 formatTime(std::llround(run->steps.interval.low)),
                                 formatTime(std::llround(run->steps.interval.high)))});
    f.change.push_back({"steps", "30"});
    return f;
}

}  // namespace

std::vector<Finding> fewSteps(const AdviceInput& in)
{
    Runs few;
    Runs wide;
    for (const Breakdown& run : in.runs) {
        if (run.steps.empty())
            continue;
        if (run.steps.used.size() < kEnoughSteps)
            few.push_back(&run);
        else if (run.steps.relativeNoise() > kWideInterval)
            wide.push_back(&run);
    }
    const auto fewer = [](const Breakdown* a, const Breakdown* b) {
        return a->steps.used.size() < b->steps.used.size();
    };
    const auto surer = [](const Breakdown* a, const Breakdown* b) {
        return a->steps.relativeNoise() < b->steps.relativeNoise();
    };
    std::vector<Finding> findings;
    if (!few.empty()) {
        const std::size_t used = (*std::min_element(few.begin(), few.end(), fewer))->steps.used.size();
        findings.push_back(note(
            few, fmt::format("Measure more steps: only {} {} used of {}", used, used == 1 ? "was" : "were", modes(few)),
            "With fewer than 10 steps the interval is about as wide as the steps vary."));
    }
    if (!wide.empty()) {
        const double noise = (*std::max_element(wide.begin(), wide.end(), surer))->steps.relativeNoise();
        findings.push_back(
            note(wide, fmt::format("Steps of {} vary: the median is known to ±{:.0f}%", modes(wide), 100 * noise),
                 "Other work on the machine, or clocks that change, hide differences smaller than that."));
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
