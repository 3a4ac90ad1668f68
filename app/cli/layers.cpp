// SPDX-License-Identifier: Apache-2.0
// `fp8scope layers`: what each layer costs in each run, by what the time is for.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "app/analysis/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace fp8scope::cli {
namespace {

/// How many characters all layers' module paths begin alike, up to a dot: what every row would repeat.
std::size_t commonPathOf(const Trace& trace, const analysis::Breakdown& run)
{
    std::optional<std::string_view> common;
    for (const analysis::LayerTime& time : run.layers) {
        if (!time.layer.valid())
            continue;
        const std::string_view name = trace.layer(time.layer).name;
        if (!common)
            common = name.substr(0, name.rfind('.') + 1);
        const auto differs = std::ranges::mismatch(*common, name).in1;
        common = common->substr(0, static_cast<std::size_t>(differs - common->begin()));
        common = common->substr(0, common->rfind('.') + 1);
    }
    return common ? common->size() : 0;
}

/// The end of a path tells layers apart, not its beginning.
std::string tailOf(const std::string& path)
{
    constexpr std::size_t kShown = 22;  // what the table has room for beside its figures
    return path.size() <= kShown ? path : "\u2026" + path.substr(path.size() - kShown + 1);
}

Cell featuresCell(std::int64_t features)
{
    return features > 0 ? countCell(static_cast<std::uint64_t>(features)) : Cell{"-", features};
}

Table tableOf(const Trace& trace, const analysis::Breakdown& run, const std::string& unit)
{
    Table table;
    table.columns = {{"layer", "layer", false, true},
                     {"in", "in_features"},
                     {"out", "out_features"},
                     {"in", "precision", false},
                     {"GEMM", "gemm_ns"},
                     {"quant.", "quantization_ns"},
                     {"bias", "bias_ns"},
                     {"activ.", "activation_ns"},
                     {"optim.", "optimizer_ns"},
                     {"other", "other_ns"},
                     {"total", "total_ns"}};
    const std::size_t commonPath = commonPathOf(trace, run);
    for (const analysis::LayerTime& time : run.layers) {
        const analysis::LayerCost cost = analysis::layerCost(run, time);
        std::vector<Cell> row;
        if (time.layer.valid()) {
            const Layer& layer = trace.layer(time.layer);
            row = {{tailOf(layer.name.substr(commonPath)), layer.name},
                   featuresCell(layer.inFeatures),
                   featuresCell(layer.outFeatures),
                   textCell(layer.precision)};
            if (!layer.reason.empty())
                table.notes.push_back(fmt::format("{} is not fp8: {}", layer.name, layer.reason));
        } else {
            row = {textCell("(no layer, idle)"), {"", Json()}, {"", Json()}, textCell("")};
        }
        for (const std::int64_t ns : {cost.gemmNs, cost.quantizationNs, cost.biasNs, cost.activationNs,
                                      cost.optimizerNs, cost.otherNs, cost.totalNs()})
            row.push_back(timeCell(ns, unit));
        table.rows.push_back(std::move(row));
    }
    return table;
}

Json toJson(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    Json document{{"schema_version", kJsonSchema}, {"runs", Json::array()}};
    for (const analysis::Breakdown& run : runs) {
        Json layers = Json::array();
        for (const analysis::LayerTime& time : run.layers) {
            const analysis::LayerCost cost = analysis::layerCost(run, time);
            Json item{{"layer", Json()}};
            if (time.layer.valid()) {
                const Layer& layer = trace.layer(time.layer);
                item = {{"layer", layer.name},
                        {"in_features", layer.inFeatures},
                        {"out_features", layer.outFeatures},
                        {"precision", layer.precision},
                        {"reason", layer.reason}};
            }
            item.update(Json{{"gemm_ns", cost.gemmNs},
                             {"quantization_ns", cost.quantizationNs},
                             {"bias_ns", cost.biasNs},
                             {"activation_ns", cost.activationNs},
                             {"optimizer_ns", cost.optimizerNs},
                             {"other_ns", cost.otherNs},
                             {"total_ns", cost.totalNs()}});
            Json phases;
            for (int p = 0; p < kPhaseCount; ++p)
                phases[std::string(toString(static_cast<Phase>(p)))] = time.phase(static_cast<Phase>(p));
            item["phases_ns"] = std::move(phases);
            layers.push_back(std::move(item));
        }
        document["runs"].push_back({{"mode", run.mode},
                                    {"origin", toString(run.origin)},
                                    {"step_ns", run.stepNs},
                                    {"layers", std::move(layers)}});
    }
    return document;
}

}  // namespace

void addLayersCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<TraceOptions>();
    CLI::App* command = app.add_subcommand("layers", "What each layer costs: GEMM, quantization, bias, activation");
    addTraceOptions(*command, *options);
    command->callback([options] {
        const Trace trace = openWithProgress(options->file, options->rules);
        const std::vector<analysis::Breakdown> runs = chosenRuns(trace, *options);
        if (options->format == Format::Json) {
            printJson(toJson(trace, runs));
            return;
        }
        for (std::size_t i = 0; i < runs.size(); ++i) {
            Table table = tableOf(trace, runs[i], options->timeUnit);
            if (options->format == Format::Csv) {
                print(renderCsvOfRun(std::move(table), runs[i].mode, i == 0));
                continue;
            }
            table.headline = headline(trace, *options, runs[i].mode + ", exposed time of a step by layer");
            print((i > 0 ? "\n" : "") + renderTable(table));
        }
    });
}

}  // namespace fp8scope::cli
