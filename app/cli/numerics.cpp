// SPDX-License-Identifier: Apache-2.0
// `fp8scope numerics`: what quantization did to each tensor, the worst first, and the loss of each run.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "app/analysis/numerics.h"
#include "app/analysis/overview.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <cmath>

namespace fp8scope::cli {
namespace {

struct NumericsOptions : TraceOptions {
    bool perStep = false;
};

Cell numberCell(double value)
{
    return std::isfinite(value) ? Cell{fmt::format("{:.4g}", value), value} : Cell{"-", Json()};
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Table worstTable(const std::vector<analysis::TensorNumerics>& tensors)
{
    Table table;
    table.columns = {{"tensor", "tensor", false, true}, {"format", "format", false}, {"steps", "steps"},
                     {"amax", "largest_amax"},          {"scale", "last_scale"},     {"saturated", "saturated_share"},
                     {"underflow", "underflow_share"},  {"zeros", "zero_share"}};
    for (const analysis::TensorNumerics& t : tensors) {
        table.rows.push_back({textCell(t.tensor), textCell(t.format), countCell(t.steps), numberCell(t.amaxMax),
                              numberCell(t.lastScale), shareCell(t.saturatedShare), shareCell(t.underflowShare),
                              shareCell(t.zeroShare)});
    }
    return table;
}

Table stepTable(const Trace& trace, RunId run, const analysis::StepLimit& limit)
{
    Table table;
    table.columns = {
        {"step", "step"},   {"tensor", "tensor", false, true}, {"format", "format", false},  {"amax", "amax"},
        {"scale", "scale"}, {"saturated", "saturated"},        {"underflow", "underflowed"}, {"zeros", "zeros"},
        {"count", "count"}};
    for (const TensorStat& s : trace.tensorStats) {
        if (s.run != run || s.step < limit.first || s.step > limit.last)
            continue;
        table.rows.push_back({countCell(s.step), textCell(s.tensor), textCell(s.format), numberCell(s.amax),
                              numberCell(s.scale), countCell(s.saturated), countCell(s.underflowed), countCell(s.zeros),
                              countCell(s.count)});
    }
    return table;
}

std::string lossNote(const Trace& trace, RunId run)
{
    const std::vector<analysis::LossPoint> curve = analysis::lossCurve(trace, run);
    if (curve.empty())
        return "no loss recorded";
    return fmt::format("loss {:.5g} at step {}, {:.5g} at step {}", curve.front().loss, curve.front().step,
                       curve.back().loss, curve.back().step);
}

Json toJson(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    Json document{{"schema_version", kJsonSchema}, {"runs", Json::array()}};
    for (const analysis::Breakdown& run : runs) {
        Json losses = Json::array();
        for (const analysis::LossPoint& point : analysis::lossCurve(trace, run.run))
            losses.push_back({{"step", point.step}, {"loss", finite(point.loss)}});
        Json tensors = Json::array();
        for (const analysis::TensorNumerics& t : analysis::tensorNumerics(trace, run.run)) {
            tensors.push_back({{"tensor", t.tensor},
                               {"format", t.format},
                               {"steps", t.steps},
                               {"smallest_amax", finite(t.amaxMin)},
                               {"largest_amax", finite(t.amaxMax)},
                               {"last_scale", finite(t.lastScale)},
                               {"saturated_share", t.saturatedShare},
                               {"underflow_share", t.underflowShare},
                               {"zero_share", t.zeroShare},
                               {"worst_step", t.worstStep}});
        }
        Json stats = Json::array();
        for (const TensorStat& s : trace.tensorStats) {
            if (s.run == run.run)
                stats.push_back({{"step", s.step},
                                 {"tensor", s.tensor},
                                 {"format", s.format},
                                 {"amax", finite(s.amax)},
                                 {"scale", finite(s.scale)},
                                 {"count", s.count},
                                 {"saturated", s.saturated},
                                 {"underflowed", s.underflowed},
                                 {"zeros", s.zeros}});
        }
        document["runs"].push_back({{"mode", run.mode},
                                    {"loss", std::move(losses)},
                                    {"tensors", std::move(tensors)},
                                    {"stats", std::move(stats)}});
    }
    return document;
}

}  // namespace

void addNumericsCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<NumericsOptions>();
    CLI::App* command =
        app.add_subcommand("numerics", "amax, scale, saturation and underflow per tensor; loss per run");
    addTraceOptions(*command, *options);
    command->add_flag("--per-step", options->perStep, "A row for each step and tensor instead of the worst tensors");
    command->callback([options] {
        const Trace trace = openWithProgress(options->file, options->rules);
        const std::vector<analysis::Breakdown> runs = chosenRuns(trace, *options);
        if (options->format == Format::Json) {
            printJson(toJson(trace, runs));
            return;
        }
        bool first = true;
        for (const analysis::Breakdown& run : runs) {
            Table table = options->perStep ? stepTable(trace, run.run, options->steps)
                                           : worstTable(analysis::tensorNumerics(trace, run.run));
            if (options->format == Format::Csv) {
                print(renderCsvOfRun(std::move(table), run.mode, first));
            } else {
                table.headline = fmt::format("{}: {}, numerics of the fp8 tensors; {}",
                                             options->file.filename().string(), run.mode, lossNote(trace, run.run));
                if (table.rows.empty())
                    print((first ? "" : "\n") + wrap(table.headline + "; this run quantizes nothing"));
                else
                    print((first ? "" : "\n") + renderTable(table));
            }
            first = false;
        }
    });
}

}  // namespace fp8scope::cli
