// SPDX-License-Identifier: Apache-2.0
// `fp8scope run`: trains the configured model in each mode, records it, and prints where the time went.
#include "app/cli/advise_table.h"
#include "app/cli/breakdown_table.h"
#include "app/cli/compare_table.h"
#include "app/cli/interrupt_stop.h"
#include "app/cli/presets.h"
#include "app/cli/run_progress.h"

#include "app/analysis/overview.h"
#include "app/session/session.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_reader.h"
#include "engine/plan/step_plan.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace fp8scope::cli {
namespace {

struct RunOptions {
    std::filesystem::path config;
    std::string preset;
    std::vector<std::pair<std::string, std::string>> settings;  ///< key, value, in the order given
    std::filesystem::path output;
    bool force = false;
    bool printPlan = false;
    bool printConfig = false;
    int threads = 0;
    ProgressStyle progress = ProgressStyle::Auto;
};

std::string readFile(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in)
        throw Error("cannot be read", path.string(), "check the path");
    return text;
}

plan::MlpConfig configOf(const RunOptions& options)
{
    if (!options.config.empty() && !options.preset.empty())
        throw CLI::ValidationError("--config and --preset exclude each other; a preset is a configuration");
    plan::MlpConfig config;
    if (!options.config.empty())
        config = plan::parseConfig(readFile(options.config), options.config.string());
    else if (!options.preset.empty())
        config = plan::parseConfig(presetToml(options.preset), "preset " + options.preset);
    for (const auto& [key, value] : options.settings)
        plan::applySetting(config, key, value, "option for " + key);
    return config;
}

/// An option that sets one key of the configuration.
void addSetting(CLI::App& command, RunOptions& options, const std::string& flags, const std::string& key,
                const std::string& help, const std::string& placeholder)
{
    command
        .add_option_function<std::string>(
            flags, [&options, key](const std::string& value) { options.settings.emplace_back(key, value); }, help)
        ->option_text(placeholder);
}

/// "1024,512" as TOML: [1024, 512]; words are quoted.
std::string tomlList(const std::string& text, bool quote)
{
    std::string list = "[";
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string item = text.substr(start, end - start);
        list += (start > 0 ? ", " : "") + (quote ? '"' + item + '"' : item);
        start = end + 1;
    }
    return list + "]";
}

void addModelOptions(CLI::App& command, RunOptions& options)
{
    command
        .add_option_function<std::string>(
            "--widths",
            [&options](const std::string& v) { options.settings.emplace_back("widths", tomlList(v, false)); },
            "Features before the first layer, then after each: 1024,4096,1024")
        ->option_text("N,N,...");
    command
        .add_option_function<std::string>(
            "--modes", [&options](const std::string& v) { options.settings.emplace_back("modes", tomlList(v, true)); },
            "Modes to train in turn: bf16,fp8,fp8-fused")
        ->option_text("MODE,...");
    command.add_flag_callback(
        "--no-bias", [&options] { options.settings.emplace_back("bias", "false"); }, "Linear layers without bias");
    addSetting(command, options, "--activation", "activation", "relu, gelu or none", "NAME");
    addSetting(command, options, "--batch", "batch", "Rows of a batch", "N");
    addSetting(command, options, "--steps", "steps", "Steps a mode, after the warm-up", "N");
    addSetting(command, options, "--warmup", "warmup", "Steps before them, flagged as warm-up", "N");
    addSetting(command, options, "--loss", "loss", "mean_squared_error or softmax_cross_entropy", "NAME");
    addSetting(command, options, "--optimizer", "optimizer.kind", "adam or sgd", "NAME");
    addSetting(command, options, "--learning-rate", "optimizer.learning_rate", "Learning rate", "X");
    addSetting(command, options, "--recipe", "recipe.kind",
               "How scales are chosen: tensorwise, delayed, rowwise, rowwise_with_gw_hp, blockwise or mxfp8", "NAME");
    addSetting(command, options, "--seed", "seed", "Seed of weights and data", "N");
    command
        .add_option_function<std::vector<std::string>>(
            "--fusion",
            [&options](const std::vector<std::string>& switches) {
                for (const std::string& s : switches) {
                    const std::size_t eq = s.find('=');
                    options.settings.emplace_back("fusion." + s.substr(0, eq),
                                                  eq == std::string::npos ? "true" : s.substr(eq + 1));
                }
            },
            "Switch one fusion on or off in all modes that can have it: cast_transpose=false")
        ->option_text("NAME[=BOOL]");
    command
        .add_option_function<std::vector<std::string>>(
            "--set",
            [&options](const std::vector<std::string>& assignments) {
                for (const std::string& s : assignments) {
                    const std::size_t eq = s.find('=');
                    if (eq == std::string::npos)
                        throw CLI::ValidationError("--set", fmt::format("'{}' is not KEY=VALUE", s));
                    options.settings.emplace_back(s.substr(0, eq), s.substr(eq + 1));
                }
            },
            "Set any key of the configuration: --set optimizer.beta2=0.95")
        ->option_text("KEY=VALUE");
}

void printSummary(const std::filesystem::path& file)
{
    const Trace trace = loadTrace(file);
    TraceOptions options;
    options.file = file;
    const analysis::Overview overview = analysis::overview(trace);
    print("\n" + wrap(analysis::plainText(overview.headline)));
    if (!overview.note.empty())
        print(wrap(analysis::plainText(overview.note)));
    print("\n");
    printBreakdown(trace, overview.runs, options, "family");
    if (!overview.accounts.empty()) {
        print("\n");
        printAccounts(trace, overview.accounts, options);
    }
    print("\nWhat to change, estimated gain a step:\n");
    printFindings(trace, overview.findings, options, false);
}

int execute(const RunOptions& options, const Program& program)
{
    plan::MlpConfig config;
    try {
        config = configOf(options);
    } catch (const Error& e) {
        fmt::print(stderr, "fp8scope: {}\n", e.what());
        return kUsage;
    }
    if (options.printConfig)
        print(plan::toToml(config));
    if (options.printPlan) {
        for (const std::string& mode : config.modes)
            print(plan::print(plan::buildPlan(config, mode)) + "\n");
    }
    if (options.printPlan || options.printConfig)
        return kSuccess;
    if (options.output.empty())
        throw CLI::RequiredError("-o,--output");
    if (!options.force && std::filesystem::exists(options.output))
        throw Error("the file exists", options.output.string(), "choose another name, or replace it with --force");

    session::RunRequest request{config, options.output, options.force, options.threads};
    ProgressPrinter progress(options.progress);
    InterruptStop interrupt;
    const session::RunOutcome outcome = session::runTraining(
        request, program.executable, [&](const session::RunProgress& p) { progress.show(p); }, interrupt.token());
    progress.finish(outcome, options.output);
    if (outcome.stepsRecorded > 0 && progress.forPeople())
        printSummary(options.output);
    if (!outcome.message.empty())
        fmt::print(stderr, "fp8scope: {}\n", outcome.message);
    if (progress.forPeople() && outcome.stepsRecorded > 0)
        print(fmt::format("\n{} holds it all; next: fp8scope advise {}, or fp8scope-gui {}\n", options.output.string(),
                          options.output.string(), options.output.string()));
    return outcome.complete ? kSuccess : kIncomplete;
}

}  // namespace

void addRunCommand(CLI::App& app, Program& program)
{
    auto options = std::make_shared<RunOptions>();
    CLI::App* command = app.add_subcommand("run", "Train the bundled engine in several modes and record it");
    command->add_option("--preset", options->preset, "A configuration by name: " + presetNames())->option_text("NAME");
    command->add_option("--config", options->config, "A configuration file (TOML)")->option_text("FILE");
    addModelOptions(*command, *options);
    command->add_option("-o,--output", options->output, "The trace to write")->option_text("FILE.fp8trace");
    command->add_flag("--force", options->force, "Replace the output file if it exists");
    command->add_option("--threads", options->threads, "CPU threads of the engine (0: all)")
        ->check(CLI::Range(0, 1024).description(""))
        ->option_text("N");
    command->add_flag("--print-plan", options->printPlan, "Print each mode's plan and stop");
    command->add_flag("--print-config", options->printConfig, "Print the complete configuration and stop");
    command->add_option("--progress", options->progress, "auto, bar, plain, json or none")
        ->transform(CLI::CheckedTransformer(progressStyles(), CLI::ignore_case).description(""))
        ->option_text("STYLE");
    command->footer(
        "Options override the file or preset, in the order given. Ctrl-C stops after the running step and keeps\n"
        "what was recorded. Example: fp8scope run --preset demo --batch 256 -o small.fp8trace");
    command->callback([options, &program] { program.exitCode = execute(*options, program); });
}

}  // namespace fp8scope::cli
