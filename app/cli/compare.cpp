// SPDX-License-Identifier: Apache-2.0
// `fp8scope compare`: the speedup account, from one run's step to another's in bars that add up exactly.
#include "app/cli/compare_table.h"
#include "app/cli/open_progress.h"

#include "app/analysis/overview.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>

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

Json toJson(const std::vector<analysis::SpeedupAccount>& accounts)
{
    Json document{{"schema_version", kJsonSchema}, {"accounts", Json::array()}};
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

const analysis::Breakdown& runNamed(const std::vector<analysis::Breakdown>& runs, const std::string& mode,
                                    const TraceOptions& options)
{
    const auto found = std::find_if(runs.begin(), runs.end(), [&](const auto& b) { return b.mode == mode; });
    if (found == runs.end())
        throw Error(fmt::format("no run is named '{}'", mode), options.file.string(),
                    "`fp8scope info` lists the runs of a file");
    return *found;
}

}  // namespace

void printAccounts(const Trace& trace, const std::vector<analysis::SpeedupAccount>& accounts,
                   const TraceOptions& options)
{
    if (options.format == Format::Json) {
        printJson(toJson(accounts));
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
        TraceOptions all = *options;
        all.runs.clear();
        const std::vector<analysis::Breakdown> runs = chosenRuns(trace, all);
        std::vector<analysis::SpeedupAccount> accounts;
        if (from->empty()) {
            accounts = analysis::accounts(trace, runs);
        } else {
            const analysis::Breakdown& baseline = runNamed(runs, *from, *options);
            for (const analysis::Breakdown& run : runs) {
                if (run.run != baseline.run && !run.steps.empty())
                    accounts.push_back(analysis::account(trace, baseline, run));
            }
        }
        for (const std::string& mode : options->runs)
            (void)runNamed(runs, mode, *options);
        if (!options->runs.empty()) {
            std::erase_if(accounts, [&](const analysis::SpeedupAccount& a) {
                return std::find(options->runs.begin(), options->runs.end(), a.toMode) == options->runs.end();
            });
        }
        if (accounts.empty())
            throw Error("there are no two runs to compare", options->file.string(),
                        "record bf16 and fp8 into one file: `fp8scope run --modes bf16,fp8`");
        printAccounts(trace, accounts, *options);
    });
}

}  // namespace fp8scope::cli
