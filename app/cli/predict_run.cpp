// SPDX-License-Identifier: Apache-2.0
// `fp8scope predict --preset`: a training run on a GPU that need not be there, as a table and as a trace.
#include "app/cli/predict.h"

#include "app/analysis/overview.h"
#include "app/cli/version.h"
#include "app/session/predicted_run.h"
#include "collector/trace/trace_writer.h"
#include "engine/plan/step_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fp8scope::cli {
namespace {

constexpr int kBounds = 4;

/// Busy time by what bounds the op.
std::array<std::int64_t, kBounds> busyByBound(const predict::PredictedStep& step)
{
    std::array<std::int64_t, kBounds> busy{};
    for (const predict::PredictedOp& op : step.ops)
        busy[static_cast<std::size_t>(op.bound)] += op.durNs;
    return busy;
}

Table tableOf(const session::Prediction& prediction, const std::vector<analysis::Breakdown>& runs,
              const std::string& unit)
{
    Table table;
    table.columns = {{"mode", "mode", false},  {"step", "step_ns"},
                     {"GEMMs", "gemm_ns"},     {"quantization", "quantization_ns"},
                     {"idle", "idle_ns"},      {"submitting", "host_ns"},
                     {"launches", "launches"}, {"speedup", "speedup"}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const predict::PredictedStep& step = prediction.modes[i].step;
        const std::int64_t gemms = runs[i][Family::GemmFp8].exposedNs + runs[i][Family::Gemm16].exposedNs;
        const double speedup = static_cast<double>(prediction.modes.front().step.stepNs) /
                               static_cast<double>(std::max<std::int64_t>(step.stepNs, 1));
        table.rows.push_back({textCell(runs[i].mode),
                              timeCell(step.stepNs, unit),
                              timeCell(gemms, unit),
                              timeCell(runs[i][Family::Quantization].exposedNs, unit),
                              timeCell(runs[i][Family::Idle].exposedNs, unit),
                              timeCell(step.hostNs, unit),
                              countCell(step.ops.size()),
                              {fmt::format("{:.2f}x", speedup), speedup}});
    }
    return table;
}

/// "bf16: 81% of the GPU's time is bound by compute, 12% by memory, 7% by launches".
std::string boundsNote(const session::PredictedMode& mode)
{
    const auto busy = busyByBound(mode.step);
    const auto share = [&](predict::Bound bound) {
        return 100.0 * static_cast<double>(busy[static_cast<std::size_t>(bound)]) /
               static_cast<double>(std::max<std::int64_t>(mode.step.gpuNs, 1));
    };
    return fmt::format(
        "{}: of the GPU's busy time {:.0f}% is bound by compute, {:.0f}% by memory, {:.0f}% by launches on "
        "the device, {:.0f}% came late from the host",
        mode.mode, share(predict::Bound::Compute), share(predict::Bound::Memory), share(predict::Bound::Launch),
        share(predict::Bound::Host));
}

Json jsonOf(const predict::DeviceModel& device, const session::Prediction& prediction,
            const std::vector<analysis::Breakdown>& runs)
{
    Json document{{"schema_version", kJsonSchema},
                  {"device", device.spec.id},
                  {"provenance", device.provenance},
                  {"runs", Json::array()}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const session::PredictedMode& mode = prediction.modes[i];
        Json families = Json::array();
        for (int f = 0; f < kFamilyCount; ++f) {
            const analysis::TimePair time = runs[i].families[static_cast<std::size_t>(f)];
            families.push_back({{"family", toString(static_cast<Family>(f))},
                                {"exposed_ns", time.exposedNs},
                                {"busy_ns", time.busyNs}});
        }
        Json bounds;
        const auto busy = busyByBound(mode.step);
        for (int b = 0; b < kBounds; ++b)
            bounds[std::string(toString(static_cast<predict::Bound>(b)))] = busy[static_cast<std::size_t>(b)];
        Json ops = Json::array();
        for (const TraceOp& row : prediction.trace.ops) {
            if (row.run.value != i)
                continue;
            const predict::PredictedOp& op = mode.step.ops[row.index];
            ops.push_back(
                {{"op", row.name}, {"start_ns", op.startNs}, {"dur_ns", op.durNs}, {"bound", toString(op.bound)}});
        }
        document["runs"].push_back({{"mode", mode.mode},
                                    {"origin", toString(Origin::Predicted)},
                                    {"step_ns", mode.step.stepNs},
                                    {"gpu_ns", mode.step.gpuNs},
                                    {"host_ns", mode.step.hostNs},
                                    {"launches", mode.step.ops.size()},
                                    {"families", std::move(families)},
                                    {"busy_ns_by_bound", std::move(bounds)},
                                    {"ops", std::move(ops)}});
    }
    return document;
}

}  // namespace

void printRun(const predict::DeviceModel& device, const plan::MlpConfig& config, const RunQuestion& question,
              Format format, const std::string& timeUnit)
{
    const session::Prediction prediction =
        session::predictRun({.config = config, .host = question.host, .tool = kVersionText}, device);
    if (!question.output.empty())
        saveTrace(prediction.trace, question.output,
                  question.force ? TraceWriter::IfExists::Replace : TraceWriter::IfExists::Refuse);
    const std::vector<analysis::Breakdown> runs = analysis::breakdowns(prediction.trace);
    Table table = tableOf(prediction, runs, timeUnit);
    table.headline = fmt::format("a step of {}, {}", config.name, predictedFor(device));
    table.notes.emplace_back("");
    for (const session::PredictedMode& mode : prediction.modes)
        table.notes.push_back(boundsNote(mode));
    if (!question.output.empty())
        table.notes.push_back(
            fmt::format("{} holds it; next: fp8scope compare {}", question.output.string(), question.output.string()));
    emitResult(format, table, [&] { return jsonOf(device, prediction, runs); });
}

}  // namespace fp8scope::cli
