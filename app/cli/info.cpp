// SPDX-License-Identifier: Apache-2.0
// `fp8scope info`: what a trace file holds, and whether it is whole.
#include "app/cli/command.h"
#include "app/cli/memory_table.h"
#include "app/cli/open_progress.h"

#include "app/analysis/framework.h"
#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fp8scope::cli {
namespace {

struct RunFacts {
    std::uint64_t steps = 0;
    std::uint64_t slices = 0;
    double lastLoss = std::nan("");
    std::int64_t endNs = 0;  ///< of an unfinished run: its last step's end
};

RunFacts factsOf(const Trace& trace, RunId run)
{
    RunFacts facts;
    facts.endNs = trace.run(run).endNs;
    for (const Step& step : trace.steps) {
        if (step.run == run) {
            ++facts.steps;
            facts.lastLoss = step.loss;
            facts.endNs = std::max(facts.endNs, step.startNs + step.durNs);
        }
    }
    for (const Track& track : trace.tracks) {
        if (track.run == run)
            facts.slices += track.slices.size();
    }
    return facts;
}

/// By run: its mode, numbered where it is repeated, as --run takes it.
std::vector<std::string> runNames(const Trace& trace)
{
    std::vector<std::string> names(trace.runs.size());
    for (const analysis::RunGroup& group : analysis::runGroups(trace)) {
        for (std::size_t i = 0; i < group.runs.size(); ++i)
            names[group.runs[i].value] = group.runs.size() > 1 ? fmt::format("{}#{}", group.mode, i + 1) : group.mode;
    }
    return names;
}

std::string lossText(double loss) { return std::isfinite(loss) ? fmt::format("{:.5g}", loss) : "-"; }

/// "rank 0: Transformer Engine, delayed scaling (certain): 96 x transformer_engine::..., ..."
std::string frameworkNote(const std::string& mode, const analysis::Framework& framework)
{
    std::string note = fmt::format("{}: {}", mode, analysis::describe(framework));
    std::string_view separator = ": ";
    for (const analysis::FrameworkEvidence& e : framework.evidence) {
        constexpr std::size_t kShown = 60;
        const bool cut = e.name.size() > kShown;
        note +=
            fmt::format("{}{} x {}{} ({})", separator, e.count, e.name.substr(0, kShown), cut ? "..." : "", e.tells);
        separator = ", ";
    }
    return note;
}

Json frameworkJson(const analysis::Framework& framework)
{
    Json evidence = Json::array();
    for (const analysis::FrameworkEvidence& e : framework.evidence)
        evidence.push_back({{"name", e.name}, {"tells", e.tells}, {"count", e.count}});
    return {{"name", framework.name.empty() ? Json() : Json(framework.name)},
            {"recipe", framework.recipe.empty() ? Json() : Json(framework.recipe)},
            {"uses_fp8", framework.usesFp8},
            {"compiled", framework.compiled},
            {"confidence", analysis::toString(framework.confidence)},
            {"evidence", std::move(evidence)}};
}

Table runTable(const Trace& trace, const TraceOptions& options)
{
    Table table;
    table.headline = fmt::format("{}: {} {}, {} slices, {}", options.file.filename().string(), trace.runs.size(),
                                 trace.runs.size() == 1 ? "run" : "runs", trace.sliceCount(),
                                 trace.complete ? "complete" : "incomplete");
    table.columns = {{"run", "mode", false},
                     {"origin", "origin", false},
                     {"steps", "steps"},
                     {"slices", "slices"},
                     {"length", "length_ns"},
                     {"last loss", "last_loss"},
                     {"state", "state", false, false, true}};
    const std::vector<std::string> names = runNames(trace);
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        const Run& run = trace.runs[r];
        const RunFacts facts = factsOf(trace, RunId(r));
        const std::string state = run.complete ? "complete" : (run.note.empty() ? "incomplete" : run.note);
        table.rows.push_back({textCell(names[r]),
                              textCell(toString(run.origin)),
                              countCell(facts.steps),
                              countCell(facts.slices),
                              timeCell(facts.endNs - run.startNs, options.timeUnit),
                              {lossText(facts.lastLoss), std::isfinite(facts.lastLoss) ? Json(facts.lastLoss) : Json()},
                              textCell(state)});
    }
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        if (trace.runs[r].origin == Origin::Imported)
            table.notes.push_back(frameworkNote(trace.runs[r].mode, analysis::detectFramework(trace, RunId(r))));
    }
    for (const Device& device : trace.devices) {
        table.notes.push_back(fmt::format("device: {} ({}, {} {}){}", device.name, device.arch, device.units,
                                          device.kind == "cpu" ? "cores" : "SMs",
                                          device.hasFp8 ? "" : ", no FP8 units"));
    }
    for (const Diagnostic& d : trace.diagnostics)
        table.notes.push_back(fmt::format("{}: {} ({} times)", toString(d.severity), d.text, d.count));
    if (!trace.complete)
        table.notes.emplace_back("The file was not closed by its writer: it holds all finished batches up to then.");
    return table;
}

Json toJson(const Trace& trace)
{
    Json document{{"schema_version", kJsonSchema}, {"complete", trace.complete}, {"slices", trace.sliceCount()}};
    document["meta"] = trace.meta;
    document["runs"] = Json::array();
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        const Run& run = trace.runs[r];
        const RunFacts facts = factsOf(trace, RunId(r));
        document["runs"].push_back({{"mode", run.mode},
                                    {"origin", toString(run.origin)},
                                    {"tool", run.tool},
                                    {"steps", facts.steps},
                                    {"slices", facts.slices},
                                    {"start_ns", run.startNs},
                                    {"end_ns", facts.endNs},
                                    {"last_loss", std::isfinite(facts.lastLoss) ? Json(facts.lastLoss) : Json()},
                                    {"complete", run.complete},
                                    {"note", run.note},
                                    {"memory", memoryJson(trace, RunId(r))},
                                    {"config", run.configToml},
                                    {"framework", frameworkJson(analysis::detectFramework(trace, RunId(r)))}});
    }
    document["devices"] = Json::array();
    for (const Device& d : trace.devices) {
        document["devices"].push_back(
            {{"name", d.name}, {"kind", d.kind}, {"arch", d.arch}, {"units", d.units}, {"has_fp8", d.hasFp8}});
    }
    document["tracks"] = Json::array();
    for (const Track& t : trace.tracks) {
        document["tracks"].push_back({{"run", trace.run(t.run).mode},
                                      {"name", t.name},
                                      {"kind", toString(t.kind)},
                                      {"slices", t.slices.size()}});
    }
    document["diagnostics"] = Json::array();
    for (const Diagnostic& d : trace.diagnostics) {
        document["diagnostics"].push_back(
            {{"name", d.name}, {"severity", toString(d.severity)}, {"count", d.count}, {"text", d.text}});
    }
    return document;
}

}  // namespace

void addInfoCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<TraceOptions>();
    CLI::App* command = app.add_subcommand("info", "What a trace holds: runs, steps, devices, diagnostics");
    command->add_option("FILE", options->file, "The trace (.fp8trace)")->required()->option_text(" ");
    addFormatOption(*command, options->format);
    command->callback([options] {
        const Trace trace = openWithProgress(options->file, options->rules);
        emitResult(options->format, runTable(trace, *options), [&] { return toJson(trace); });
        if (options->format == Format::Table)
            printMemory(trace);
    });
}

}  // namespace fp8scope::cli
