// SPDX-License-Identifier: Apache-2.0
// `fp8scope import`: files of other tools to one .fp8trace file.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "collector/import/import.h"
#include "collector/import/ranks.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::cli {
namespace {

struct ImportOptions {
    std::vector<std::filesystem::path> files;
    std::filesystem::path output;
    std::vector<std::filesystem::path> rules;
    bool force = false;
    Format format = Format::Table;
};

/// Where nothing is said: the first file's name without its endings, here.
std::filesystem::path outputFor(const std::filesystem::path& file)
{
    const std::filesystem::path name = file.filename().empty() ? file.parent_path().filename() : file.filename();
    const bool usable = !name.empty() && name != "." && name != "..";
    return (usable ? import::runNameOf(name.string()) : std::string("imported")) + ".fp8trace";
}

struct RunCounts {
    std::uint64_t device = 0, host = 0, steps = 0;
};

RunCounts countsOf(const Trace& trace, RunId run)
{
    RunCounts counts;
    for (const Track& track : trace.tracks) {
        if (track.run == run)
            (track.kind == TrackKind::DeviceQueue ? counts.device : counts.host) += track.slices.size();
    }
    counts.steps = static_cast<std::uint64_t>(
        std::count_if(trace.steps.begin(), trace.steps.end(), [&](const Step& step) { return step.run == run; }));
    return counts;
}

/// A trace with nothing on a device says why, as far as the file tells.
std::string nothingOnDevice(const Trace& trace)
{
    std::string why = "Nothing ran on a GPU in this trace: it was recorded without CUDA or ROCm activity, or on a CPU.";
    for (const Diagnostic& d : trace.diagnostics) {
        if (d.name == "no_gpu_work")
            return "Nothing ran on a GPU in this trace: " + d.text;
        if (d.name == "profiler_log")
            why += " The profiler said: " + d.text;
    }
    return why;
}

Table summaryTable(const Trace& trace, const ImportOptions& options, const std::string& what)
{
    Table table;
    const std::string files = options.files.size() == 1 ? options.files[0].filename().string()
                                                        : fmt::format("{} files", options.files.size());
    table.headline = fmt::format("{}: {}; {} {}, {} slices", files, what, trace.runs.size(),
                                 trace.runs.size() == 1 ? "run" : "ranks", trace.sliceCount());
    table.columns = {{"run", "mode", false, true},
                     {"recorded by", "tool", false},
                     {"on the GPU", "device_slices"},
                     {"on the CPU", "host_slices"},
                     {"steps", "steps"},
                     {"length", "length_ns"}};
    std::uint64_t onDevice = 0;
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        const Run& run = trace.runs[r];
        const RunCounts counts = countsOf(trace, RunId(r));
        onDevice += counts.device;
        table.rows.push_back({textCell(run.mode), textCell(run.tool), countCell(counts.device), countCell(counts.host),
                              countCell(counts.steps), timeCell(run.endNs - run.startNs, "auto")});
    }
    if (onDevice == 0)
        table.notes.push_back(nothingOnDevice(trace));
    return table;
}

/// The same thing said of several ranks stands once.
void addDiagnostics(const Trace& trace, Table& table)
{
    std::vector<Diagnostic> merged;
    for (const Diagnostic& d : trace.diagnostics) {
        const auto same = std::find_if(merged.begin(), merged.end(),
                                       [&](const Diagnostic& m) { return m.name == d.name && m.text == d.text; });
        if (same == merged.end())
            merged.push_back(d);
        else
            same->count += d.count;
    }
    for (const Diagnostic& d : merged)
        table.notes.push_back(fmt::format("{}: {} ({} times)", toString(d.severity), d.text, d.count));
}

Json toJson(const Trace& trace, const std::string& what, const std::filesystem::path& output)
{
    Json document{
        {"schema_version", kJsonSchema}, {"what", what}, {"file", output.string()}, {"slices", trace.sliceCount()}};
    document["runs"] = Json::array();
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        const RunCounts counts = countsOf(trace, RunId(r));
        document["runs"].push_back({{"mode", trace.runs[r].mode},
                                    {"tool", trace.runs[r].tool},
                                    {"device_slices", counts.device},
                                    {"host_slices", counts.host},
                                    {"steps", counts.steps},
                                    {"complete", trace.runs[r].complete}});
    }
    document["diagnostics"] = Json::array();
    for (const Diagnostic& d : trace.diagnostics) {
        document["diagnostics"].push_back(
            {{"name", d.name}, {"severity", toString(d.severity)}, {"count", d.count}, {"text", d.text}});
    }
    return document;
}

void runImport(ImportOptions options)
{
    if (options.output.empty())
        options.output = outputFor(options.files.front());
    if (!options.force && std::filesystem::exists(options.output))
        throw Error("the file exists", options.output.string(),
                    "choose another name with -o, or replace it with --force");
    const std::string what =
        options.files.size() == 1 ? import::recognize(options.files[0]).what : std::string("the ranks of one job");
    const Trace trace = openWithProgress(options.files, options.rules);
    saveTrace(trace, options.output, options.force ? TraceWriter::IfExists::Replace : TraceWriter::IfExists::Refuse);
    Table table = summaryTable(trace, options, what);
    addDiagnostics(trace, table);
    emitResult(options.format, table, [&] { return toJson(trace, what, options.output); });
    if (options.format == Format::Table)
        print(fmt::format("\n{0} holds it all; next: fp8scope breakdown {0}, or fp8scope-gui {0}\n",
                          options.output.string()));
}

}  // namespace

void addImportCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<ImportOptions>();
    CLI::App* command =
        app.add_subcommand("import", "Turn traces of PyTorch's profiler and Nsight Systems into a .fp8trace file");
    command->add_option("FILE", options->files, "A trace, a folder or an archive of ranks, or one file for each rank")
        ->required()
        ->option_text("...");
    command->add_option("-o,--output", options->output, "The trace to write (default: FILE's name, in this folder)")
        ->option_text("OUT.fp8trace");
    command->add_flag("--force", options->force, "Replace the output file if it exists");
    addFormatOption(*command, options->format);
    addRulesOption(*command, options->rules);
    command->footer(
        "Opens: JSON of PyTorch's profiler (.json, .json.gz, also of a killed job), other Chrome trace JSON,\n"
        "SQLite exports of Nsight Systems, .nsys-rep where `nsys` is installed, and tar archives and folders of\n"
        "these, read as the ranks of one job. Every other subcommand opens them as well, without this one;\n"
        "importing once saves reading them each time. Details: resources/help/import.md");
    command->callback([options] { runImport(*options); });
}

}  // namespace fp8scope::cli
