// SPDX-License-Identifier: Apache-2.0
// `fp8scope collect -- COMMAND...`: records what any CUDA program does on its GPUs.
#include "app/session/collect.h"
#include "app/cli/command.h"
#include "collector/trace/error.h"
#include "collector/wire/injection.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace fp8scope::cli {
namespace {

struct CollectOptions {
    session::CollectRequest request;
    std::string output = "%h-%p.fp8trace";
    std::string delay, duration, range;
    bool noCommandLine = false, paused = false;
    std::string graphs = "nodes";
};

/// "500ms", "10s", "2m"; a number alone is seconds.
std::chrono::milliseconds durationOf(const std::string& option, const std::string& text)
{
    char* unit = nullptr;
    const double value = std::strtod(text.c_str(), &unit);
    constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
        {{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60'000}, {"min", 60'000}}};
    for (const auto& [name, milliseconds] : kUnits) {
        if (name == unit && unit != text.c_str() && value >= 0 && value * milliseconds < 1e12)
            return std::chrono::milliseconds(static_cast<std::int64_t>(value * milliseconds));
    }
    throw CLI::ValidationError(option, fmt::format("'{}' is not a time such as 500ms, 10s or 2m", text));
}

/// libfp8scope_inject.so beside this program, in the build tree or installed.
std::filesystem::path libraryOf(const std::filesystem::path& executable)
{
    const std::filesystem::path folder = executable.parent_path();
    const std::filesystem::path name = "libfp8scope_inject.so";
    for (const char* place : {"../lib", "../lib/x86_64-linux-gnu", "../lib64", "."}) {
        if (std::filesystem::exists(folder / place / name))
            return (folder / place / name).lexically_normal();
    }
    return folder / name;
}

session::CollectRequest requestOf(CollectOptions options, const Program& program)
{
    session::CollectRequest request = std::move(options.request);
    if (request.command.empty())
        throw CLI::ValidationError("collect", "no command is given: fp8scope collect [options] -- python train.py");
    request.library = libraryOf(program.executable);
    if (!request.kinds.empty() && !wire::recordKindsFromString(request.kinds))
        throw CLI::ValidationError(
            "--kinds", fmt::format("'{}' is not a list of {}", request.kinds, fmt::join(wire::kRecordKindNames, ", ")));
    if ((options.delay.empty() ? 0 : 1) + (options.range.empty() ? 0 : 1) + (options.paused ? 1 : 0) > 1)
        throw CLI::ValidationError("--delay, --range and --paused exclude each other");
    if (options.paused)
        request.from = session::RecordFrom::Command;
    request.graphsAsOne = options.graphs == "as-one";
    request.recordCommandLine = !options.noCommandLine;
    if (!options.delay.empty()) {
        request.delay = durationOf("--delay", options.delay);
        request.from = session::RecordFrom::Delay;
    }
    if (!options.range.empty())
        request.from = session::RecordFrom::CudaProfiler;
    if (!options.duration.empty())
        request.duration = durationOf("--duration", options.duration);
    request.output = session::expandOutputName(options.output);
    return request;
}

/// To standard error: standard output is the command's.
void printSummary(const session::CollectRequest& request, const session::CollectOutcome& outcome)
{
    const std::string file = request.output.string();
    for (const Diagnostic& d : outcome.diagnostics) {
        const bool sentence = d.severity == Severity::Error && d.count == 1;
        fmt::print(stderr, "fp8scope: {}\n", sentence ? d.text : fmt::format("{} {}", d.count, d.text));
    }
    if (!outcome.message.empty())
        fmt::print(stderr, "fp8scope: {}\n", outcome.message);
    if (outcome.processes == 0) {
        if (outcome.diagnostics.empty())
            fmt::print(
                stderr,
                "fp8scope: nothing was recorded: no process of the command initialised CUDA with a driver that loads "
                "CUDA_INJECTION64_PATH\n");
        return;
    }
    const double seconds = static_cast<double>(outcome.lastNs - outcome.firstNs) / 1e9;
    fmt::print(stderr,
               "fp8scope: {} device operations and {} host records of {} {} over {:.3f} s are in {}\n"
               "fp8scope: next: fp8scope breakdown {}, or fp8scope-gui {}\n",
               outcome.deviceSlices, outcome.slices - outcome.deviceSlices, outcome.processes,
               outcome.processes == 1 ? "process" : "processes", seconds, file, file, file);
}

int exitCodeOf(const session::ExitStatus& status)
{
    constexpr int kSignalBase = 128;  // as shells do
    return status.signal != 0 ? kSignalBase + status.signal : status.code;
}

}  // namespace

void addCollectCommand(CLI::App& app, Program& program)
{
    auto options = std::make_shared<CollectOptions>();
    CLI::App* command = app.add_subcommand("collect", "Record the GPU work of any CUDA program");
    session::CollectRequest& request = options->request;
    command
        ->add_option("-o,--output", options->output,
                     "The trace to write; %h host, %p process, %r rank, %d date, %t time (default %h-%p.fp8trace)")
        ->option_text("NAME");
    command->add_flag("--force", request.replace, "Replace the output file if it exists");
    command->add_option("--kinds", request.kinds, fmt::format("What to record (default {})", wire::kDefaultKinds))
        ->option_text("KIND,...");
    command->add_option("--graphs", options->graphs, "A CUDA graph's launch: nodes (each kernel, costs more) or as-one")
        ->check(CLI::IsMember({"nodes", "as-one"}).description(""))
        ->option_text("HOW");
    command->add_option("--delay", options->delay, "Start recording that long after the command: 10s")
        ->option_text("TIME");
    command->add_option("--duration", options->duration, "Record no longer than this")->option_text("TIME");
    command
        ->add_option("--range", options->range, "Record between the program's cudaProfilerStart and cudaProfilerStop")
        ->check(CLI::IsMember({"cuda-profiler"}).description(""))
        ->option_text("cuda-profiler");
    command->add_flag("--paused", options->paused, "Record only once `fp8scope ctl start` says so");
    command->add_option("--max-size", request.maxFileBytes, "Stop recording when the file reaches this: 2GB")
        ->transform(CLI::AsSizeValue(false).description(""))
        ->option_text("SIZE");
    command->add_option("--max-memory", request.bufferMiB, "MiB of buffers in each process (default 48)")
        ->check(CLI::Range(4, 4096).description(""))
        ->option_text("MIB");
    command->add_option("--cupti", request.cupti, "The CUPTI library to use; else it is searched")
        ->check(CLI::ExistingFile.description(""))
        ->option_text("FILE");
    command->add_flag("--no-cmdline", options->noCommandLine, "Do not record the programs' arguments");
    command->add_option("COMMAND", request.command, "After --: the program and its arguments")->option_text("...");
    command->footer(
        "The command's output, input, signals and exit code are its own. Its children are recorded too, each as a\n"
        "process. Example: fp8scope collect -o run.fp8trace -- python train.py");
    command->callback([options, &program] {
        const session::CollectRequest asked = requestOf(*options, program);
        const session::CollectOutcome outcome = session::collect(asked);
        printSummary(asked, outcome);
        program.exitCode = exitCodeOf(outcome.status);
    });
}

}  // namespace fp8scope::cli
