// SPDX-License-Identifier: Apache-2.0
// `fp8scope calibrate`: measures this machine's CPU, so that predictions for it are its own.
#include "app/cli/command.h"
#include "app/cli/device_files.h"

#include "app/analysis/overview.h"
#include "collector/trace/error.h"
#include "engine/plan/config.h"
#include "engine/predict/fit.h"
#include "engine/predict/step.h"
#include "engine/worker/cpu_device.h"
#include "engine/worker/measure_ops.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include <unistd.h>

namespace fp8scope::cli {
namespace {

using worker::MeasuredPlan;

struct CalibrateOptions {
    std::filesystem::path output;
    int threads = 0;
    int steps = 9;
    bool dryRun = false;
    Format format = Format::Table;
};

/// Small models whose ops cover the kinds and sizes of larger ones.
plan::MlpConfig model(std::vector<std::int64_t> widths, std::int64_t batch, plan::Activation activation,
                      std::string_view recipe)
{
    plan::MlpConfig config;
    config.widths = std::move(widths);
    config.batch = batch;
    config.activation = activation;
    plan::applySetting(config, "recipe.kind", recipe, "calibration");
    return config;
}

std::vector<plan::MlpConfig> trainingModels()
{
    using enum plan::Activation;
    return {
        model({256, 512, 256, 128}, 256, Relu, "tensorwise"),     model({512, 1024, 512, 512}, 512, Relu, "tensorwise"),
        model({1024, 1024, 1024, 128}, 1024, Relu, "tensorwise"), model({2048, 1024, 2048}, 512, Gelu, "tensorwise"),
        model({1024, 512, 1024, 256}, 512, Relu, "delayed"),      model({256, 1024, 512}, 1024, Relu, "delayed")};
}

std::vector<plan::MlpConfig> heldOutModels()
{
    using enum plan::Activation;
    return {model({768, 1536, 768, 384}, 768, Relu, "tensorwise"),
            model({1024, 2048, 1024, 128}, 384, Relu, "delayed")};
}

std::vector<MeasuredPlan> measureAll(const std::vector<plan::MlpConfig>& models, const CalibrateOptions& options)
{
    std::vector<MeasuredPlan> plans;
    for (const plan::MlpConfig& config : models) {
        for (const std::string& mode : config.modes) {
            if (::isatty(STDERR_FILENO) != 0)
                fmt::print(stderr, "\rmeasuring {} {} ...   ", mode, config.batch);
            plans.push_back(worker::measurePlan(config, mode, options.threads, options.steps));
        }
    }
    if (::isatty(STDERR_FILENO) != 0)
        fmt::print(stderr, "\r{:40}\r", "");
    return plans;
}

std::vector<predict::MeasuredOp> rowsOf(const std::vector<MeasuredPlan>& plans)
{
    std::vector<predict::MeasuredOp> rows;
    for (const MeasuredPlan& measured : plans) {
        for (std::size_t i = 0; i < measured.opUs.size(); ++i) {
            const plan::Op& op = measured.plan.ops[i];
            if (measured.opUs[i] > 0)
                rows.push_back({predict::opClass(op), static_cast<double>(op.bytes), op.flops, measured.opUs[i]});
        }
    }
    return rows;
}

/// The best rate that any measured op reached: what stands in the device row as peak.
double bestRate(const std::vector<predict::MeasuredOp>& rows, double predict::MeasuredOp::*amount)
{
    double best = 0;
    for (const predict::MeasuredOp& row : rows)
        best = std::max(best, row.*amount / row.us * 1e6);
    return best;
}

predict::DeviceModel fitted(const std::vector<MeasuredPlan>& plans)
{
    const std::vector<predict::MeasuredOp> rows = rowsOf(plans);
    const wire::Device cpu = worker::cpuDevice();
    const double cache = static_cast<double>(std::max<std::uint64_t>(worker::lastLevelCacheBytes(), 8U << 20));
    predict::DeviceModel device;
    device.spec = {.id = "this-cpu",
                   .name = cpu.name,
                   .sms = static_cast<double>(cpu.units),
                   .peak16 = bestRate(rows, &predict::MeasuredOp::flops),
                   .bandwidth = bestRate(rows, &predict::MeasuredOp::bytes),
                   .l2Bytes = cache,
                   .memoryBytes = static_cast<double>(cpu.memoryBytes),
                   .source = "measured by fp8scope calibrate; peaks are the best rates reached"};
    device.ops = predict::fitOps(rows, cache);
    device.provenance = fmt::format("measured here, {} ops", rows.size());
    return device;
}

struct StepError {
    std::string model, mode;
    double measuredUs = 0, predictedUs = 0;
    [[nodiscard]] double relative() const { return predictedUs / measuredUs - 1; }
};

/// Steps of models that the fit has not seen; the ops' errors go into the profile.
std::vector<StepError> check(predict::DeviceModel& device, const std::vector<MeasuredPlan>& plans)
{
    std::vector<StepError> steps;
    std::vector<double> opErrors;
    for (const MeasuredPlan& measured : plans) {
        const predict::PredictedStep step = predictStep(measured.plan, device, predict::Host::None);
        for (std::size_t i = 0; i < measured.opUs.size(); ++i) {
            if (measured.opUs[i] > 0)
                opErrors.push_back(std::abs(static_cast<double>(step.ops[i].durNs) * 1e-3 / measured.opUs[i] - 1));
        }
        std::string widths;
        for (const std::int64_t width : measured.plan.config.widths)
            widths += (widths.empty() ? "" : "-") + std::to_string(width);
        steps.push_back(
            {widths, measured.plan.settings.mode, measured.stepUs, static_cast<double>(step.stepNs) * 1e-3});
    }
    const predict::ErrorSummary ops = predict::summarize(std::move(opErrors));
    device.errors = {{"ops", "all", ops.median, ops.p90, ops.rows, 0, 0}};
    return steps;
}

void save(const predict::DeviceModel& device, const std::filesystem::path& path)
{
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream out(path);
    out << "# Written by fp8scope calibrate.\n" << specToToml(device.spec) << '\n' << fitsToToml(device);
    if (!out.flush())
        throw Error("cannot be written", path.string(), "check the directory and the disk, or give --output");
}

Table tableOf(const predict::DeviceModel& device, const std::vector<StepError>& steps)
{
    Table table;
    table.headline =
        fmt::format("{}: predicted against measured steps of models that the fit has not seen", device.spec.name);
    table.columns = {{"model", "model", false},
                     {"mode", "mode", false},
                     {"measured", "measured_ns"},
                     {"predicted", "predicted_ns"},
                     {"error", "error"}};
    for (const StepError& step : steps)
        table.rows.push_back({textCell(step.model),
                              textCell(step.mode),
                              timeCell(std::llround(step.measuredUs * 1e3), "auto"),
                              timeCell(std::llround(step.predictedUs * 1e3), "auto"),
                              {fmt::format("{:+.1f}%", 100 * step.relative()), step.relative()}});
    table.notes = {"", fmt::format("single ops: median error {:.1f}%, 90th percentile {:.1f}%",
                                   100 * device.errors[0].median, 100 * device.errors[0].p90)};
    return table;
}

Json jsonOf(const predict::DeviceModel& device, const std::vector<StepError>& steps)
{
    Json document{{"schema_version", kJsonSchema},
                  {"device", device.spec.name},
                  {"op_error_median", device.errors[0].median},
                  {"op_error_p90", device.errors[0].p90},
                  {"steps", Json::array()}};
    for (const StepError& step : steps)
        document["steps"].push_back({{"model", step.model},
                                     {"mode", step.mode},
                                     {"measured_ns", std::llround(step.measuredUs * 1e3)},
                                     {"predicted_ns", std::llround(step.predictedUs * 1e3)},
                                     {"error", step.relative()}});
    return document;
}

void execute(const CalibrateOptions& options)
{
    predict::DeviceModel device = fitted(measureAll(trainingModels(), options));
    const std::vector<StepError> steps = check(device, measureAll(heldOutModels(), options));
    Table table = tableOf(device, steps);
    if (!options.dryRun) {
        const std::filesystem::path path =
            options.output.empty() ? userDeviceDirectory() / "this-cpu.toml" : options.output;
        save(device, path);
        table.notes.push_back(fmt::format("saved to {}; next: fp8scope predict --device this-cpu{} --preset demo",
                                          path.string(),
                                          options.output.empty() ? "" : " --device-file " + path.string()));
    }
    emitResult(options.format, table, [&] { return jsonOf(device, steps); });
}

}  // namespace

void addCalibrateCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<CalibrateOptions>();
    CLI::App* command =
        app.add_subcommand("calibrate", "Measure this machine's CPU, so that predictions for it are its own");
    command->add_option("-o,--output", options->output, "The profile to write (default: where predict looks)")
        ->option_text("FILE.toml");
    command->add_option("--threads", options->threads, "CPU threads of the engine (0: all)")
        ->check(CLI::Range(0, 1024).description(""))
        ->option_text("N");
    command->add_option("--steps", options->steps, "Measured steps of each small model")
        ->check(CLI::Range(3, 1000).description(""))
        ->capture_default_str()
        ->option_text("N");
    command->add_flag("--dry-run", options->dryRun, "Measure and show, but save nothing");
    addFormatOption(*command, options->format);
    command->footer("Takes well under a minute on an idle machine. Leave the machine alone meanwhile.");
    command->callback([options] { execute(*options); });
}

}  // namespace fp8scope::cli
