// SPDX-License-Identifier: Apache-2.0
// What each fusion buys, link by link.
#include "app/cli/ablation_table.h"

#include "app/analysis/overview.h"
#include "app/cli/repeats_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace fp8scope::cli {
namespace {

std::string intervalText(const analysis::StepDifference& d, const std::string& unit)
{
    return signedTime(d.interval.low, unit) + " to " + signedTime(d.interval.high, unit) +
           (d.withinNoise() ? ", noise" : "");
}

std::vector<Cell> row(std::string_view name, const analysis::AblationStep& step,
                      const std::optional<analysis::StepDifference>& difference,
                      const std::optional<analysis::StepDifference>& alone, const std::string& unit)
{
    std::vector<Cell> cells{textCell(name), timeCell(step.stepNs, unit)};
    const auto add = [&](const std::optional<analysis::StepDifference>& d) {
        cells.push_back(d ? Cell{signedTime(d->deltaNs, unit), Json(std::llround(d->deltaNs))} : Cell{"", Json()});
    };
    add(difference);
    cells.push_back(textCell(difference ? intervalText(*difference, unit) : ""));
    add(alone);
    cells.push_back(textCell(alone ? intervalText(*alone, unit) : ""));
    return cells;
}

Table tableOf(const analysis::Ablation& a, const std::string& unit)
{
    Table table;
    table.columns = {{"", "mode", false, true},    {"step", "step_ns"},   {"buys", "delta_ns"},
                     {"95% interval", "interval"}, {"alone", "alone_ns"}, {"95% interval", "alone_interval"}};
    if (a.bf16)
        table.rows.push_back(row("bf16", *a.bf16, {}, {}, unit));
    table.rows.push_back(row("fp8, nothing fused", a.plain, a.fp8Against16, {}, unit));
    for (const analysis::AblationLink& link : a.chain)
        table.rows.push_back(row("+ " + link.fusion, link.with, link.difference, link.alone, unit));
    return table;
}

std::string needsNote(const analysis::Ablation& a)
{
    std::string note;
    for (const analysis::AblationLink& link : a.chain) {
        if (!link.needs.empty())
            note += fmt::format("{}{} with {}", note.empty() ? "Alone: " : "; ", link.fusion,
                                fmt::join(link.needs, " and "));
    }
    return note.empty() ? note : note + ", against the same without it.";
}

std::string totalNote(const analysis::Ablation& a, const std::string& unit)
{
    const std::int64_t saved = a.plain.stepNs - a.last().stepNs;
    return fmt::format("All together: {} a step, {:.2f} times as fast as plain fp8{}.",
                       signedTime(static_cast<double>(-saved), unit),
                       static_cast<double>(a.plain.stepNs) / static_cast<double>(a.last().stepNs),
                       a.bf16 ? fmt::format(", {:.2f} times as fast as bf16",
                                            static_cast<double>(a.bf16->stepNs) / static_cast<double>(a.last().stepNs))
                              : "");
}

Json stepJson(const analysis::AblationStep& step)
{
    return {{"mode", step.mode},
            {"step_ns", step.stepNs},
            {"step_low_ns", std::llround(step.interval.low)},
            {"step_high_ns", std::llround(step.interval.high)},
            {"repeats", step.repeats}};
}

Json differenceJson(const analysis::StepDifference& d)
{
    return {{"delta_ns", std::llround(d.deltaNs)},
            {"delta_low_ns", std::llround(d.interval.low)},
            {"delta_high_ns", std::llround(d.interval.high)},
            {"within_noise", d.withinNoise()}};
}

}  // namespace

void printAblation(const Trace& trace, const analysis::Ablation& a, const TraceOptions& options)
{
    Table table = tableOf(a, options.timeUnit);
    table.headline = headline(trace, options, "what each fusion buys, one after the other");
    table.notes = {"", totalNote(a, options.timeUnit)};
    if (const std::string needs = needsNote(a); !needs.empty())
        table.notes.push_back(needs);
    if (a.plain.repeats < 2)
        table.notes.emplace_back("From one run a mode: --repeats tells how far to trust the differences.");
    if (!a.skipped.empty())
        table.notes.push_back("Left out: " + a.skipped);
    print(renderTable(table));
}

Json ablationJson(const analysis::Ablation& a)
{
    Json chain = Json::array();
    for (const analysis::AblationLink& link : a.chain) {
        Json item{{"fusion", link.fusion}};
        item.update(stepJson(link.with));
        item.update(differenceJson(link.difference));
        item["needs"] = link.needs;
        item["alone"] = link.alone ? differenceJson(*link.alone) : Json();
        chain.push_back(std::move(item));
    }
    return {{"bf16", a.bf16 ? stepJson(*a.bf16) : Json()},
            {"plain", stepJson(a.plain)},
            {"fp8_against_bf16", a.fp8Against16 ? differenceJson(*a.fp8Against16) : Json()},
            {"chain", std::move(chain)},
            {"skipped", a.skipped}};
}

}  // namespace fp8scope::cli
