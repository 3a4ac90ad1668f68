// SPDX-License-Identifier: Apache-2.0
// `fp8scope compare`: the speedup account, from one run's step to another's in bars that add up exactly.
#include "app/cli/ablation_table.h"
#include "app/cli/compare_table.h"
#include "app/cli/open_progress.h"
#include "app/cli/repeats_table.h"

#include "app/analysis/overview.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace fp8scope::cli {
namespace {

Cell deltaCell(std::int64_t ns, const std::string& unit)
{
    Cell cell = timeCell(ns < 0 ? -ns : ns, unit);
    cell.text = (ns < 0 ? "−" : "+") + cell.text;
    cell.raw = ns;
    return cell;
}

Table tableOf(const analysis::SpeedupAccount& account, const std::string& unit)
{
    Table table;
    table.columns = {{"from " + account.fromMode + " to " + account.toMode, "bar", false},
                     {"a step", "delta_ns"},
                     {"what it is", "explanation", false, false, true}};
    table.rows.push_back({textCell(account.fromMode + " step"), timeCell(account.fromNs, unit), textCell("")});
    for (const analysis::AccountBar& bar : account.bars)
        table.rows.push_back({textCell(bar.name), deltaCell(bar.deltaNs, unit), textCell(bar.explanation)});
    table.rows.push_back({textCell(account.toMode + " step"), timeCell(account.toNs, unit), textCell("")});
    return table;
}

std::string verdict(const analysis::SpeedupAccount& account)
{
    std::string text = fmt::format("speedup {:.2f} ({:.2f} to {:.2f})", account.speedup, account.speedupInterval.low,
                                   account.speedupInterval.high);
    if (account.withinNoise)
        text += ", within the noise";
    if (account.idealGemmRatio <= 1)
        return text + "; this device's peaks promise no gain of fp8 GEMMs";
    text += fmt::format("; at best {:.2f} if only the 16-bit GEMMs were {:.1f}x faster (Amdahl)", account.amdahlBound,
                        account.idealGemmRatio);
    if (account.quantizationPerFp8Gemm > 0)
        text += fmt::format("; quantization is {:.2f} of the fp8 GEMM time, break-even is {:.2f}",
                            account.quantizationPerFp8Gemm, account.breakEven);
    return text;
}

Json toJson(const Trace& trace, const std::vector<analysis::SpeedupAccount>& accounts, const TraceOptions& options)
{
    Json document{{"schema_version", kJsonSchema},
                  {"accounts", Json::array()},
                  {"repeats", repeatsJson(analysis::runGroups(trace, options.steps))}};
    if (const auto ablation = analysis::ablation(trace, options.steps))
        document["ablation"] = ablationJson(*ablation);
    for (const analysis::SpeedupAccount& a : accounts) {
        Json bars = Json::array();
        for (const analysis::AccountBar& bar : a.bars)
            bars.push_back({{"name", bar.name}, {"delta_ns", bar.deltaNs}, {"explanation", bar.explanation}});
        document["accounts"].push_back({{"from", a.fromMode},
                                        {"to", a.toMode},
                                        {"from_ns", a.fromNs},
                                        {"to_ns", a.toNs},
                                        {"bars", std::move(bars)},
                                        {"speedup", a.speedup},
                                        {"speedup_low", a.speedupInterval.low},
                                        {"speedup_high", a.speedupInterval.high},
                                        {"within_noise", a.withinNoise},
                                        {"ideal_gemm_ratio", a.idealGemmRatio},
                                        {"amdahl_bound", a.amdahlBound},
                                        {"quantization_per_fp8_gemm", a.quantizationPerFp8Gemm},
                                        {"break_even", a.breakEven}});
    }
    return document;
}

/// From `from` (by default the first 16-bit run) to the runs of --run, or to all others.
std::vector<analysis::SpeedupAccount> chosenAccounts(const Trace& trace, const TraceOptions& options,
                                                     const std::string& from)
{
    const std::vector<analysis::Breakdown> targets = chosenRuns(trace, options);
    if (from.empty() && options.runs.empty())
        return analysis::accounts(trace, targets);
    std::optional<analysis::Breakdown> baseline;
    if (!from.empty()) {
        TraceOptions named = options;
        named.runs = {from};
        baseline = chosenRuns(trace, named).front();
    } else {
        TraceOptions all = options;
        all.runs.clear();
        const std::vector<analysis::Breakdown> runs = chosenRuns(trace, all);
        const auto first = std::find_if(runs.begin(), runs.end(), analysis::isSixteenBit);
        if (first != runs.end())
            baseline = *first;
    }
    std::vector<analysis::SpeedupAccount> accounts;
    for (const analysis::Breakdown& run : targets) {
        if (baseline && run.run != baseline->run && !run.steps.empty())
            accounts.push_back(analysis::account(trace, *baseline, run));
    }
    return accounts;
}

}  // namespace

void printAccounts(const Trace& trace, const std::vector<analysis::SpeedupAccount>& accounts,
                   const TraceOptions& options)
{
    if (options.format == Format::Json) {
        printJson(toJson(trace, accounts, options));
        return;
    }
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        Table table = tableOf(accounts[i], options.timeUnit);
        if (options.format == Format::Csv) {
            print(renderCsv(table));
            continue;
        }
        table.headline = headline(
            trace, options, fmt::format("from the {} step to the {} step", accounts[i].fromMode, accounts[i].toMode));
        table.notes = {"", verdict(accounts[i])};
        print((i > 0 ? "\n" : "") + renderTable(table));
    }
}

void addCompareCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<TraceOptions>();
    auto from = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("compare", "Where did my 2x go: from one run's step to another's, exactly");
    addTraceOptions(*command, *options);
    command->add_option("--from", *from, "The baseline run (default: the first 16-bit run)")->option_text("MODE");
    command->callback([options, from] {
        const Trace trace = openWithProgress(options->file, options->rules);
        std::vector<analysis::SpeedupAccount> accounts = chosenAccounts(trace, *options, *from);
        if (accounts.empty())
            throw Error("there are no two runs to compare", options->file.string(),
                        "record bf16 and fp8 into one file: `fp8scope run --modes bf16,fp8`");
        if (options->format == Format::Table)
            printRepeats(trace, *options);
        printAccounts(trace, accounts, *options);
        if (const auto ablation = analysis::ablation(trace, options->steps);
            ablation && options->format == Format::Table) {
            print("\n");
            printAblation(trace, *ablation, *options);
        }
    });
}

}  // namespace fp8scope::cli
