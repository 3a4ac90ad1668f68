// SPDX-License-Identifier: Apache-2.0
// `fp8scope breakdown`: exposed and busy time of a typical step by family, role or phase, one column pair a run.
#include "app/cli/breakdown_table.h"
#include "app/cli/open_progress.h"

#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::cli {
namespace {

constexpr std::size_t kRunsPerTable = 4;

struct Part {
    std::string name;
    analysis::TimePair time;
};

std::vector<Part> partsOf(const analysis::Breakdown& run, const std::string& by)
{
    std::vector<Part> parts;
    if (by == "family") {
        for (int f = 0; f < kFamilyCount; ++f)
            parts.push_back({std::string(toString(static_cast<Family>(f))), run.families[static_cast<std::size_t>(f)]});
    } else if (by == "role") {
        for (int r = 0; r < kRoleCount; ++r)
            parts.push_back({std::string(toString(static_cast<Role>(r))), run.roles[static_cast<std::size_t>(r)]});
        parts.push_back({"idle", run[Family::Idle]});
    } else {
        for (int p = 0; p < kPhaseCount; ++p) {
            const std::int64_t exposed = run.phaseNs[static_cast<std::size_t>(p)];
            parts.push_back({std::string(toString(static_cast<Phase>(p))), {exposed, exposed}});
        }
    }
    return parts;
}

double share(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

Table tableOf(std::span<const analysis::Breakdown> runs, const std::string& by, const std::string& unit)
{
    Table table;
    table.columns.push_back({by, by, false});
    std::vector<std::vector<Part>> parts;
    for (const analysis::Breakdown& run : runs) {
        table.columns.push_back({run.mode, run.mode + "_exposed_ns"});
        table.columns.push_back({"share", run.mode + "_share"});
        parts.push_back(partsOf(run, by));
    }
    for (std::size_t i = 0; i < parts.front().size(); ++i) {
        std::vector<Cell> row{textCell(parts.front()[i].name)};
        bool anything = false;
        for (std::size_t r = 0; r < runs.size(); ++r) {
            const analysis::TimePair& time = parts[r][i].time;
            anything = anything || time.exposedNs != 0 || time.busyNs != 0;
            row.push_back(timeCell(time.exposedNs, unit));
            row.push_back(shareCell(share(time.exposedNs, runs[r].stepNs)));
        }
        if (anything)
            table.rows.push_back(std::move(row));
    }
    std::vector<Cell> total{textCell("step (median)")};
    for (const analysis::Breakdown& run : runs) {
        total.push_back(timeCell(run.stepNs, unit));
        total.push_back(shareCell(1.0));
    }
    table.rows.push_back(std::move(total));
    return table;
}

std::string runNote(const analysis::Breakdown& run, const std::string& unit)
{
    if (run.steps.empty())
        return fmt::format("{}: no finished step to judge", run.mode);
    const auto ns = [&](double value) { return analysis::formatTime(static_cast<std::int64_t>(value), unit); };
    const std::string steps =
        run.steps.repeats > 1
            ? fmt::format("{} steps of {} repeats used", run.steps.stepsOfAllRepeats, run.steps.repeats)
            : fmt::format("{} steps used, {} warm-up dropped", run.steps.used.size(), run.steps.warmupCount);
    std::string note = fmt::format("{}: {}, 95% interval of the median {} to {}", run.mode, steps,
                                   ns(run.steps.interval.low), ns(run.steps.interval.high));
    if (run.gemmFlopsPerSecond > 0)
        note += fmt::format("; GEMMs at {}", analysis::formatFlops(run.gemmFlopsPerSecond));
    if (run[Family::Quantization].busyNs > 0)
        note += fmt::format("; quantization tax {}, {:.2f} of the fp8 GEMM time",
                            analysis::formatPercent(run.quantizationTax), run.quantizationPerFp8Gemm);
    if (run.origin == Origin::Imported || run.classifiedShare < 1)
        note += fmt::format("; GPU time classified: {}", analysis::classifiedBy(run));
    return note;
}

Json classifiedJson(const analysis::Breakdown& run)
{
    Json by = Json::object();
    for (int i = 0; i < analysis::kClassifiedByCount; ++i) {
        const auto evidence = static_cast<analysis::ClassifiedBy>(i);
        by[fmt::format("{}_ns", analysis::toString(evidence))] = run.classifiedNs[static_cast<std::size_t>(i)];
    }
    return by;
}

Json toJson(const std::vector<analysis::Breakdown>& runs)
{
    Json document{{"schema_version", kJsonSchema}, {"runs", Json::array()}};
    for (const analysis::Breakdown& run : runs) {
        Json item{{"mode", run.mode},
                  {"origin", toString(run.origin)},
                  {"step_ns", run.stepNs},
                  {"step_low_ns", static_cast<std::int64_t>(run.steps.interval.low)},
                  {"step_high_ns", static_cast<std::int64_t>(run.steps.interval.high)},
                  {"repeats", run.steps.repeats},
                  {"steps_used", run.steps.stepsOfAllRepeats},
                  {"warmup_steps", run.steps.warmupCount},
                  {"quantization_tax", run.quantizationTax},
                  {"quantization_per_fp8_gemm", run.quantizationPerFp8Gemm},
                  {"gemm_flops_per_second", run.gemmFlopsPerSecond},
                  {"classified_share", run.classifiedShare},
                  {"classified_by", classifiedJson(run)},
                  {"launches_per_step", run.launchesPerStep}};
        for (const auto& [key, by] : {std::pair{"families", "family"}, {"roles", "role"}, {"phases", "phase"}}) {
            Json list = Json::array();
            for (const Part& part : partsOf(run, by)) {
                Json entry{{by, part.name}, {"exposed_ns", part.time.exposedNs}};
                if (std::string_view(by) != "phase")
                    entry["busy_ns"] = part.time.busyNs;
                list.push_back(std::move(entry));
            }
            item[key] = std::move(list);
        }
        document["runs"].push_back(std::move(item));
    }
    return document;
}

}  // namespace

void printBreakdown(const Trace& trace, const std::vector<analysis::Breakdown>& runs, const TraceOptions& options,
                    const std::string& by)
{
    if (options.format == Format::Json) {
        printJson(toJson(runs));
        return;
    }
    if (options.format == Format::Csv) {
        print(renderCsv(tableOf(runs, by, options.timeUnit)));
        return;
    }
    for (std::size_t first = 0; first < runs.size(); first += kRunsPerTable) {
        const std::size_t count = std::min(kRunsPerTable, runs.size() - first);
        Table table = tableOf(std::span(runs).subspan(first, count), by, options.timeUnit);
        table.headline = headline(trace, options, "exposed time of a step by " + by);
        table.notes.emplace_back("");
        for (std::size_t r = first; r < first + count; ++r)
            table.notes.push_back(runNote(runs[r], options.timeUnit));
        print(renderTable(table));
    }
}

void addBreakdownCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<TraceOptions>();
    auto by = std::make_shared<std::string>("family");
    CLI::App* command =
        app.add_subcommand("breakdown", "Where a step's time goes; the parts add up to the step exactly");
    addTraceOptions(*command, *options);
    command->add_option("--by", *by, "What to add up by: family, role or phase")
        ->check(CLI::IsMember({"family", "role", "phase"}).description(""))
        ->option_text("KEY");
    command->callback([options, by] {
        const Trace trace = openWithProgress(options->file, options->rules);
        printBreakdown(trace, chosenRuns(trace, *options), *options, *by);
    });
}

}  // namespace fp8scope::cli
