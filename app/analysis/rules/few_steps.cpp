// SPDX-License-Identifier: Apache-2.0
// Note: too few steps were measured for a 95% interval, or they vary so much that small differences mean nothing.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"

#include <fmt/format.h>

#include <cmath>

namespace fp8scope::analysis::rules
{
namespace
{

constexpr std::size_t kEnoughSteps = 10;  // below 6 there is no 95% interval of the median at all
constexpr double kWideInterval = 0.10;    // half width; differences of this size cannot be told from chance

Finding note(const AdviceInput& in, const Breakdown& run, std::string title, std::string why)
{
    Finding f{.rule = "few-steps", .run = run.run, .title = std::move(title), .why = std::move(why)};
    f.formula = "no gain: the run gets no faster, its figures get surer";
    f.wrongIf = "the differences of interest are far larger than the interval";
    f.evidence.push_back(
        {.text = fmt::format("{}: {} of {} steps used, median {}, interval {} to {}", in.trace.run(run.run).mode,
                             run.steps.used.size(), run.steps.totalCount, formatTime(run.steps.medianNs),
                             formatTime(std::llround(run.steps.interval.low)),
                             formatTime(std::llround(run.steps.interval.high)))});
    f.change.push_back({"steps", "30"});
    return f;
}

}  // namespace

std::vector<Finding> fewSteps(const AdviceInput& in)
{
    std::vector<Finding> findings;
    for (const Breakdown& run : in.runs) {
        const std::size_t used = run.steps.used.size();
        if (used == 0)
            continue;
        if (used < kEnoughSteps)
            findings.push_back(
                note(in, run,
                     fmt::format("Only {} {} measured in {}", used, used == 1 ? "step was" : "steps were", run.mode),
                     "With fewer than 10 steps the interval is about as wide as the steps vary."));
        else if (run.steps.relativeNoise() > kWideInterval)
            findings.push_back(
                note(in, run, fmt::format("Steps of {} vary by ±{:.0f}%", run.mode, 100 * run.steps.relativeNoise()),
                     "Other work on the machine, or clocks that change, hide differences smaller than that."));
    }
    return findings;
}

}  // namespace fp8scope::analysis::rules
