// SPDX-License-Identifier: Apache-2.0
// `fp8scope numerics`: what quantization did to each tensor, the worst first, how far layers are from bf16, and the
// loss of each run.
#include "app/cli/numerics_tables.h"
#include "app/cli/open_progress.h"

#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fp8scope::cli {
namespace {

struct NumericsOptions : TraceOptions {
    bool perStep = false;
    std::string tensor;
};

/// Refuses a tensor that no chosen run quantizes, and names those that there are.
void requireTensor(const Trace& trace, const std::vector<analysis::Breakdown>& runs, const NumericsOptions& options)
{
    std::set<std::string> names;
    for (const TensorStat& stat : trace.tensorStats) {
        if (std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return run.run == stat.run; }))
            names.insert(stat.tensor);
    }
    if (names.contains(options.tensor))
        return;
    std::string all;
    for (const std::string& name : names)
        all += (all.empty() ? "" : ", ") + name;
    throw Error(fmt::format("no tensor is named '{}'", options.tensor), options.file.string(),
                all.empty() ? "these runs quantize nothing" : "there are " + all);
}

/// What the recorder was warned of: saturation, underflow, a value that is not finite.
void addWarnings(const Trace& trace, RunId run, Table& table)
{
    for (const Diagnostic& d : trace.diagnostics) {
        if (d.run == run)
            table.notes.push_back(fmt::format("{}: {} ({} times)", d.name, d.text, d.count));
    }
    if (!table.notes.empty())
        table.notes.insert(table.notes.begin(), "");
}

Table mainTable(const Trace& trace, RunId run, const NumericsOptions& options)
{
    if (options.perStep || !options.tensor.empty())
        return tensorStepTable(trace, run, options.steps, options.tensor);
    return worstTensorTable(trace, run);
}

void printIfAny(Table table, const std::string& headline)
{
    if (table.rows.empty())
        return;
    if (!headline.empty())
        table.headline = headline;
    print("\n" + renderTable(table));
}

void printTables(const Trace& trace, const std::vector<analysis::Breakdown>& runs, const NumericsOptions& options)
{
    const std::string file = options.file.filename().string();
    for (const analysis::Breakdown& run : runs) {
        Table table = mainTable(trace, run.run, options);
        const std::string title = fmt::format("{}: {}, numerics of the fp8 tensors", file, run.mode);
        const bool first = &run == &runs.front();
        if (table.rows.empty() && options.tensor.empty()) {
            print((first ? "" : "\n") + wrap(title + "; this run quantizes nothing"));
        } else if (!table.rows.empty()) {
            table.headline = title;
            addWarnings(trace, run.run, table);
            print((first ? "" : "\n") + renderTable(table));
        }
        if (!options.tensor.empty())
            printIfAny(magnitudeTable(trace, run.run, options.tensor), "");
        else
            printIfAny(
                shadowTable(trace, run.run),
                fmt::format("{}: {}, relative error against bf16 of the same weights and batch", file, run.mode));
    }
    if (options.tensor.empty() && !options.perStep)
        printIfAny(curveTable(trace, runs), file + ": losses and gradient norms");
}

}  // namespace

void addNumericsCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<NumericsOptions>();
    CLI::App* command = app.add_subcommand(
        "numerics", "The worst tensors first: SQNR, saturation, underflow, lagging scales; losses; error against bf16");
    addTraceOptions(*command, *options);
    command->add_flag("--per-step", options->perStep, "A row for each step and tensor instead of the worst tensors");
    command
        ->add_option("--tensor", options->tensor,
                     "One tensor step by step, with how its magnitudes are spread: layer0.x")
        ->option_text("NAME");
    command->callback([options] {
        const Trace trace = openWithProgress(options->file, options->rules);
        const std::vector<analysis::Breakdown> runs = chosenRuns(trace, *options);
        if (!options->tensor.empty())
            requireTensor(trace, runs, *options);
        if (options->format == Format::Json)
            return printJson(numericsJson(trace, runs));
        if (options->format == Format::Table)
            return printTables(trace, runs, *options);
        for (const analysis::Breakdown& run : runs)
            print(renderCsvOfRun(mainTable(trace, run.run, *options), run.mode, &run == &runs.front()));
    });
}

}  // namespace fp8scope::cli
