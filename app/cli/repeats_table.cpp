// SPDX-License-Identifier: Apache-2.0
// Repeated modes side by side: median, interval, and whether a difference is more than noise.
#include "app/cli/repeats_table.h"

#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fp8scope::cli {
namespace {

std::string verdict(const analysis::StepDifference& difference)
{
    if (difference.withinNoise())
        return "noise";
    return difference.deltaNs < 0 ? "faster" : "slower";
}

Table tableOf(const std::vector<analysis::RunGroup>& groups, const std::string& unit)
{
    Table table;
    table.columns = {{"mode", "mode", false, true},
                     {"repeats", "repeats"},
                     {"steps", "steps"},
                     {"median", "step_ns"},
                     {"95% interval", "interval"},
                     {fmt::format("against {}", groups.front().mode), "delta_ns"},
                     {"95% interval", "delta_interval"},
                     {"", "verdict", false}};
    const auto time = [&](double ns) { return analysis::formatTime(std::llround(ns), unit); };
    for (const analysis::RunGroup& group : groups) {
        const analysis::StepSummary& s = group.steps;
        const std::string interval = time(s.interval.low) + " to " + time(s.interval.high);
        std::vector<Cell> row{textCell(group.mode), countCell(s.repeats), countCell(s.stepsOfAllRepeats),
                              timeCell(s.medianNs, unit), textCell(interval)};
        if (&group == &groups.front()) {
            row.insert(row.end(), {textCell(""), textCell(""), textCell("")});
        } else {
            const analysis::StepDifference d = analysis::stepDifference(groups.front(), group);
            row.push_back({signedTime(d.deltaNs, unit), Json(std::llround(d.deltaNs))});
            row.push_back(textCell(signedTime(d.interval.low, unit) + " to " + signedTime(d.interval.high, unit)));
            row.push_back(textCell(verdict(d)));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace

std::string signedTime(double ns, const std::string& unit)
{
    return (ns < 0 ? "−" : "+") + analysis::formatTime(std::llround(std::abs(ns)), unit);
}

void printRepeats(const Trace& trace, const TraceOptions& options)
{
    std::vector<analysis::RunGroup> groups = analysis::runGroups(trace, options.steps);
    analysis::dropCrowdOfVariants(groups);
    std::erase_if(groups, [](const analysis::RunGroup& g) { return g.steps.empty(); });
    const bool repeated =
        std::any_of(groups.begin(), groups.end(), [](const analysis::RunGroup& g) { return g.steps.repeats > 1; });
    if (!repeated)
        return;
    Table table = tableOf(groups, options.timeUnit);
    table.headline = headline(trace, options, "the modes' steps over all repeats");
    table.notes = {"", "Medians of all steps after warm-up, which is found for each run; intervals by bootstrap over "
                       "repeats and steps, differences between runs that followed each other."};
    print(renderTable(table));
}

Json repeatsJson(const std::vector<analysis::RunGroup>& groups)
{
    Json list = Json::array();
    const auto ns = [](double value) { return std::llround(value); };
    for (const analysis::RunGroup& group : groups) {
        if (group.steps.empty())
            continue;
        Json medians = Json::array();
        for (const analysis::StepSummary& repeat : group.repeats)
            medians.push_back(repeat.medianNs);
        Json item{{"mode", group.mode},
                  {"repeats", group.steps.repeats},
                  {"steps", group.steps.stepsOfAllRepeats},
                  {"step_ns", group.steps.medianNs},
                  {"step_low_ns", ns(group.steps.interval.low)},
                  {"step_high_ns", ns(group.steps.interval.high)},
                  {"medians_ns", std::move(medians)}};
        if (&group != &groups.front()) {
            const analysis::StepDifference d = analysis::stepDifference(groups.front(), group);
            item["delta_ns"] = ns(d.deltaNs);
            item["delta_low_ns"] = ns(d.interval.low);
            item["delta_high_ns"] = ns(d.interval.high);
            item["within_noise"] = d.withinNoise();
        }
        list.push_back(std::move(item));
    }
    return list;
}

}  // namespace fp8scope::cli
