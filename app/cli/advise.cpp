// SPDX-License-Identifier: Apache-2.0
// `fp8scope advise`: what to change, with the estimated gain and the evidence.
#include "app/cli/advise_table.h"
#include "app/cli/open_progress.h"

#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::cli {
namespace {

constexpr std::size_t kIndent = 20;

std::string block(std::string_view label, std::string_view text)
{
    return wrap(fmt::format("{:>{}}  {}", label, kIndent - 2, text), kIndent);
}

std::string details(const analysis::Finding& finding)
{
    std::string out = block("", finding.why);
    for (const analysis::Evidence& e : finding.evidence)
        out += block("evidence", e.text);
    std::string patch;
    for (const analysis::ConfigPatch& p : finding.change)
        patch += fmt::format("{}--set {}={}", patch.empty() ? "" : " ", p.key, p.value);
    if (!patch.empty())
        out += block("try", "fp8scope run " + patch);
    for (const analysis::FrameworkOption& o : finding.options)
        out += block(o.framework, o.option);
    if (!finding.formula.empty())
        out += block("estimate", finding.formula);
    if (!finding.wrongIf.empty())
        out += block("wrong if", finding.wrongIf);
    return out;
}

Json toJson(const Trace& trace, const std::vector<analysis::Finding>& findings)
{
    Json document{{"schema_version", kJsonSchema}, {"findings", Json::array()}};
    for (const analysis::Finding& f : findings) {
        Json evidence = Json::array();
        for (const analysis::Evidence& e : f.evidence) {
            Json slices = Json::array();
            for (const SliceRef& s : e.slices)
                slices.push_back({{"track", s.track.value}, {"index", s.index}});
            evidence.push_back({{"text", e.text},
                                {"layer", e.layer.valid() ? Json(trace.layer(e.layer).name) : Json()},
                                {"slices", std::move(slices)}});
        }
        Json change = Json::object();
        for (const analysis::ConfigPatch& p : f.change)
            change[p.key] = p.value;
        Json options = Json::array();
        for (const analysis::FrameworkOption& o : f.options)
            options.push_back({{"framework", o.framework}, {"option", o.option}});
        document["findings"].push_back({{"rule", f.rule},
                                        {"run", f.run.valid() ? Json(trace.run(f.run).mode) : Json()},
                                        {"title", f.title},
                                        {"why", f.why},
                                        {"gain_ns", f.gainNs},
                                        {"gain_low_ns", static_cast<std::int64_t>(f.gain.low)},
                                        {"gain_high_ns", static_cast<std::int64_t>(f.gain.high)},
                                        {"formula", f.formula},
                                        {"wrong_if", f.wrongIf},
                                        {"evidence", std::move(evidence)},
                                        {"change", std::move(change)},
                                        {"options", std::move(options)}});
    }
    return document;
}

Table csvTable(const std::vector<analysis::Finding>& findings)
{
    Table table;
    table.columns = {{"rule", "rule", false},
                     {"title", "title", false},
                     {"gain", "gain_ns"},
                     {"low", "gain_low_ns"},
                     {"high", "gain_high_ns"}};
    for (const analysis::Finding& f : findings) {
        table.rows.push_back({textCell(f.rule),
                              textCell(f.title),
                              {"", f.gainNs},
                              {"", static_cast<std::int64_t>(f.gain.low)},
                              {"", static_cast<std::int64_t>(f.gain.high)}});
    }
    return table;
}

}  // namespace

void printFindings(const Trace& trace, const std::vector<analysis::Finding>& findings, const TraceOptions& options,
                   bool full)
{
    if (options.format == Format::Json) {
        printJson(toJson(trace, findings));
        return;
    }
    if (options.format == Format::Csv) {
        print(renderCsv(csvTable(findings)));
        return;
    }
    if (findings.empty()) {
        print("Nothing to change was found.\n");
        return;
    }
    for (const analysis::Finding& f : findings) {
        const std::string gain = f.gainNs > 0 ? "−" + analysis::formatTime(f.gainNs, options.timeUnit) : "note";
        std::string title = f.title;
        if (f.gainNs > 0)
            title += fmt::format(" ({} to {} a step)",
                                 analysis::formatTime(static_cast<std::int64_t>(f.gain.low), options.timeUnit),
                                 analysis::formatTime(static_cast<std::int64_t>(f.gain.high), options.timeUnit));
        const std::size_t width = std::max(displayWidth(gain), kIndent - 2);
        print(wrap(std::string(width - displayWidth(gain), ' ') + gain + "  " + title, kIndent));
        if (full)
            print(details(f) + "\n");
    }
}

void addAdviseCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<TraceOptions>();
    CLI::App* command = app.add_subcommand("advise", "What to change, with estimated gain and evidence");
    addTraceOptions(*command, *options);
    command->callback([options] {
        const Trace trace = openWithProgress(options->file, options->rules);
        const std::vector<analysis::Breakdown> runs = chosenRuns(trace, *options);
        const std::vector<analysis::SpeedupAccount> accounts = analysis::accounts(trace, runs);
        const std::vector<analysis::Finding> findings = analysis::advise({trace, runs, accounts});
        if (options->format == Format::Table)
            print(wrap(headline(trace, *options, "what to change, estimated gain a step")) + '\n');
        printFindings(trace, findings, *options, true);
    });
}

}  // namespace fp8scope::cli
