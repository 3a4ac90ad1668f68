// SPDX-License-Identifier: Apache-2.0
// `fp8scope gemms`: each matrix product with its rate and the quantization that feeds it.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "app/analysis/gemms.h"
#include "app/analysis/overview.h"

#include <fmt/format.h>

namespace fp8scope::cli {
namespace {

struct GemmOptions : TraceOptions {
    std::size_t top = 30;
};

std::string shapeText(const analysis::GemmBill& gemm)
{
    return gemm.m > 0 ? fmt::format("{}x{}x{}", gemm.m, gemm.n, gemm.k) : std::string("-");
}

/// The layer; of a product of no layer, its kernel.
std::string nameOf(const Trace& trace, const analysis::GemmBill& gemm)
{
    return gemm.layer.valid() ? trace.layer(gemm.layer).name : trace.name(gemm.kernel).text;
}

std::string note(const analysis::GemmTable& table, const std::string& unit)
{
    return fmt::format("quantization in all {} a step; {} of it feeds no fp8 product that was found",
                       analysis::formatTime(table.quantizationNs, unit),
                       analysis::formatTime(table.unattachedNs, unit));
}

Table tableOf(const Trace& trace, const analysis::GemmTable& gemms, const GemmOptions& options)
{
    Table table;
    table.columns = {{"layer or kernel", "name", false, true},
                     {"phase", "phase", false},
                     {"M x N x K", "shape", false},
                     {"types", "types", false},
                     {"count", "count_per_step"},
                     {"GEMM", "gemm_ns"},
                     {"quant.", "quantization_ns"},
                     {"tax", "tax"},
                     {"rate", "flops_per_second"}};
    for (const analysis::GemmBill& gemm : gemms.gemms) {
        if (options.top > 0 && table.rows.size() == options.top)
            break;
        const bool isFp8 = gemm.family == Family::GemmFp8;
        table.rows.push_back({textCell(nameOf(trace, gemm)),
                              textCell(toString(gemm.phase)),
                              textCell(shapeText(gemm)),
                              textCell(gemm.types),
                              {fmt::format("{:.4g}", gemm.countPerStep), gemm.countPerStep},
                              timeCell(gemm.gemmNs, options.timeUnit),
                              timeCell(gemm.quantizationNs, options.timeUnit),
                              isFp8 ? shareCell(gemm.tax()) : Cell{"-", Json()},
                              gemm.flopsPerSecond > 0
                                  ? Cell{analysis::formatFlops(gemm.flopsPerSecond), gemm.flopsPerSecond}
                                  : Cell{"-", Json()}});
    }
    if (table.rows.size() < gemms.gemms.size())
        table.notes.push_back(fmt::format("{} more; --top 0 shows all", gemms.gemms.size() - table.rows.size()));
    table.notes.push_back(note(gemms, options.timeUnit));
    return table;
}

Json toJson(const Trace& trace, const analysis::Breakdown& run, const analysis::GemmTable& table)
{
    Json gemms = Json::array();
    for (const analysis::GemmBill& gemm : table.gemms)
        gemms.push_back({{"layer", gemm.layer.valid() ? Json(trace.layer(gemm.layer).name) : Json()},
                         {"phase", toString(gemm.phase)},
                         {"m", gemm.m},
                         {"n", gemm.n},
                         {"k", gemm.k},
                         {"types", gemm.types},
                         {"family", toString(gemm.family)},
                         {"kernel", trace.name(gemm.kernel).text},
                         {"count_per_step", gemm.countPerStep},
                         {"gemm_ns", gemm.gemmNs},
                         {"quantization_ns", gemm.quantizationNs},
                         {"tax", gemm.tax()},
                         {"flops_per_second", gemm.flopsPerSecond}});
    return {{"mode", run.mode},
            {"origin", toString(run.origin)},
            {"step_ns", run.stepNs},
            {"quantization_ns", table.quantizationNs},
            {"unattached_quantization_ns", table.unattachedNs},
            {"gemms", std::move(gemms)}};
}

void printGemms(const Trace& trace, const GemmOptions& options)
{
    Json document{{"schema_version", kJsonSchema}, {"runs", Json::array()}};
    bool first = true;
    for (const analysis::Breakdown& run : chosenRuns(trace, options)) {
        const analysis::GemmTable gemms = analysis::gemmTable(trace, run);
        if (options.format == Format::Json) {
            document["runs"].push_back(toJson(trace, run, gemms));
            continue;
        }
        Table table = tableOf(trace, gemms, options);
        if (options.format == Format::Csv) {
            print(renderCsvOfRun(std::move(table), run.mode, first));
        } else {
            table.headline = headline(trace, options, run.mode + ", busy time a step of matrix products");
            print((first ? "" : "\n") + renderTable(table));
        }
        first = false;
    }
    if (options.format == Format::Json)
        printJson(document);
}

}  // namespace

void addGemmsCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<GemmOptions>();
    CLI::App* command =
        app.add_subcommand("gemms", "Every matrix product with its rate and the quantization that it needs to be fp8");
    addTraceOptions(*command, *options);
    command->add_option("--top", options->top, "How many (0: all)")->capture_default_str()->option_text("N");
    command->callback([options] { printGemms(openWithProgress(options->file, options->rules), *options); });
}

}  // namespace fp8scope::cli
