// SPDX-License-Identifier: Apache-2.0
// `fp8scope export`: a trace as a file of other tools.
#include "collector/export/export.h"
#include "app/analysis/slice_families.h"
#include "app/cli/commands.h"
#include "app/cli/open_progress.h"
#include "app/cli/version.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <map>

namespace fp8scope::cli {
namespace {

struct ExportCommandOptions {
    std::filesystem::path file;
    std::filesystem::path output;
    exporter::Format format = exporter::Format::ChromeJson;
    std::vector<std::string> runs;
    std::vector<std::filesystem::path> rules;
};

std::vector<RunId> runsNamed(const Trace& trace, const std::vector<std::string>& modes,
                             const std::filesystem::path& file)
{
    std::vector<RunId> runs;
    for (const std::string& mode : modes) {
        const std::size_t before = runs.size();
        std::string all;
        for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
            all += (all.empty() ? "" : ", ") + trace.runs[r].mode;
            if (trace.runs[r].mode == mode)
                runs.emplace_back(r);
        }
        if (runs.size() == before)
            throw Error(fmt::format("no run is named '{}'", mode), file.string(), "it holds: " + all);
    }
    return runs;
}

void runExport(const ExportCommandOptions& options)
{
    if (std::filesystem::exists(options.output) && std::filesystem::equivalent(options.output, options.file))
        throw Error("is the file that is read", options.output.string(), "choose another name for the output");
    const Trace trace = openWithProgress(options.file, options.rules);
    const analysis::SliceFamilies families(trace);
    const auto kindOf = [&families](OpId op, NameId name) {
        const analysis::RoleFamily kind = families.of(op, name);
        return exporter::WorkKind{kind.role, kind.family};
    };
    exporter::exportTrace(
        trace, options.format, options.output,
        {.runs = runsNamed(trace, options.runs, options.file), .writer = kVersionText, .kindOf = kindOf});
    print(fmt::format("wrote {}\n", options.output.string()));
}

}  // namespace

void addExportCommand(CLI::App& app, Program&)
{
    static const std::map<std::string, exporter::Format> formats{{"chrome", exporter::Format::ChromeJson},
                                                                 {"csv", exporter::Format::Csv},
                                                                 {"sqlite-nsys-like", exporter::Format::NsysSqlite}};
    auto options = std::make_shared<ExportCommandOptions>();
    CLI::App* command = app.add_subcommand("export", "Write a trace as Chrome JSON, CSV or an nsys-like SQLite file");
    command->add_option("FILE", options->file, "The trace: any file that fp8scope opens")->required()->option_text(" ");
    command
        ->add_option("--format", options->format, "chrome (opens in Perfetto), csv (a row a slice) or sqlite-nsys-like")
        ->transform(CLI::CheckedTransformer(formats, CLI::ignore_case).description(""))
        ->required()
        ->option_text("FORMAT");
    command->add_option("-o,--output", options->output, "The file to write; compressed if it ends in .gz")
        ->required()
        ->option_text("OUT");
    command->add_option("--run", options->runs, "Only these runs, by mode (bf16,fp8,fp8-fused)")
        ->delimiter(',')
        ->option_text("MODE,...");
    addRulesOption(*command, options->rules);
    command->footer("What each format holds is told in resources/help/export.md. Example:\n"
                    "  fp8scope export demo.fp8trace --format chrome -o demo.json.gz");
    command->callback([options] { runExport(*options); });
}

}  // namespace fp8scope::cli
