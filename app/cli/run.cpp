// SPDX-License-Identifier: Apache-2.0
// `fp8scope run`: trains the configured model in each mode, records it, and prints where the time went.
#include "app/cli/ablation_table.h"
#include "app/cli/advise_table.h"
#include "app/cli/breakdown_table.h"
#include "app/cli/compare_table.h"
#include "app/cli/fusion_option.h"
#include "app/cli/interrupt_stop.h"
#include "app/cli/memory_table.h"
#include "app/cli/model_options.h"
#include "app/cli/repeats_table.h"
#include "app/cli/run_progress.h"

#include "app/analysis/overview.h"
#include "app/session/session.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_reader.h"
#include "engine/plan/ablation.h"
#include "engine/plan/step_plan.h"

#include <fmt/format.h>

namespace fp8scope::cli {
namespace {

struct RunOptions : ModelOptions {
    std::filesystem::path output;
    bool force = false;
    bool printPlan = false;
    bool printConfig = false;
    double maxHours = session::RunRequest{}.maxHours;
    int threads = 0;
    int repeats = 0;  ///< 0: not given
    bool ablate = false;
    ProgressStyle progress = ProgressStyle::Auto;
};

/// The modes of the ablation instead of those chosen; what it leaves out goes into the trace.
void makeAblation(const RunOptions& options, session::RunRequest& request)
{
    for (const auto& [key, value] : options.settings) {
        if (key == "modes")
            throw Error("--ablate chooses the modes itself", "--modes", "leave one of the two out");
    }
    const plan::AblationModes ablation = plan::ablationModes(request.config);
    request.config.modes = ablation.modes;
    std::string skipped;
    for (const auto& [fusion, reason] : ablation.skipped)
        skipped += fmt::format("{}{}: {}", skipped.empty() ? "" : "; ", fusion, reason);
    if (!skipped.empty())
        request.meta.emplace_back(analysis::kAblationSkippedKey, skipped);
}

session::RunRequest requestOf(const RunOptions& options, plan::MlpConfig config)
{
    constexpr int kRepeatsOfAblation = 3;
    session::RunRequest request{.config = std::move(config),
                                .output = options.output,
                                .replace = options.force,
                                .threads = options.threads,
                                .maxHours = options.maxHours,
                                .repeats = options.repeats > 0 ? options.repeats
                                           : options.ablate    ? kRepeatsOfAblation
                                                               : 1};
    if (options.ablate)
        makeAblation(options, request);
    return request;
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
    printRepeats(trace, options);
    printBreakdown(trace, overview.runs, options, "family");
    if (!overview.accounts.empty()) {
        print("\n");
        printAccounts(trace, overview.accounts, options);
    }
    printMemory(trace);
    if (overview.ablation) {
        print("\n");
        printAblation(trace, *overview.ablation, options);
    }
    print("\nWhat to change, estimated gain a step:\n");
    printFindings(trace, overview.findings, options, false);
}

int execute(const RunOptions& options, const Program& program)
{
    session::RunRequest request;
    const bool listFusions = options.fusions == std::vector<std::string>{"list"};
    try {
        ModelOptions model = options;
        if (listFusions)
            model.fusions.clear();
        request = requestOf(options, configOf(model));
    } catch (const Error& e) {
        fmt::print(stderr, "fp8scope: {}\n", e.what());
        return kUsage;
    }
    if (listFusions)
        print(fusionList(request.config));
    if (options.printConfig)
        print(plan::toToml(request.config));
    if (options.printPlan) {
        for (const std::string& mode : request.config.modes)
            print(plan::print(plan::buildPlan(request.config, mode)) + "\n");
    }
    if (options.printPlan || options.printConfig || listFusions)
        return kSuccess;
    if (options.output.empty())
        throw CLI::RequiredError("-o,--output");
    if (!options.force && std::filesystem::exists(options.output))
        throw Error("the file exists", options.output.string(), "choose another name, or replace it with --force");

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
    addModelOptions(*command, *options);
    addSetting(*command, *options, "--recipe", "recipe.kind",
               "How scales are chosen: tensorwise, delayed, rowwise, rowwise_with_gw_hp, blockwise or mxfp8", "NAME");
    command->add_option("-o,--output", options->output, "The trace to write")->option_text("FILE.fp8trace");
    command->add_flag("--force", options->force, "Replace the output file if it exists");
    command->add_option("--threads", options->threads, "CPU threads of the engine (0: all)")
        ->check(CLI::Range(0, 1024).description(""))
        ->option_text("N");
    command
        ->add_option("--max-hours", options->maxHours,
                     "Refuse a run that would take longer on this CPU, by estimate (1)")
        ->check(CLI::PositiveNumber.description(""))
        ->option_text("X");
    command->add_option("--repeats", options->repeats, "Train each mode N times, in alternating order (A B, B A, ...)")
        ->check(CLI::Range(1, 100).description(""))
        ->option_text("N");
    command->add_flag_callback(
        "--shadow", [options] { options->settings.emplace_back("numerics.shadow", "true"); },
        "Compute some fp8 steps in bf16 as well and record how far layers are off");
    command->add_flag("--ablate", options->ablate,
                      "Train bf16, plain fp8, then one fusion more after the other and each alone; 3 repeats\n"
                      "unless --repeats says otherwise. Prints what each fusion buys");
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
