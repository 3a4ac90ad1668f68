// SPDX-License-Identifier: Apache-2.0
// `fp8scope report`: the report as Markdown, HTML, or PDF. The PDF writer is Qt's and lives in fp8scope-gui, which is
// started for it without a display, so that this program needs no Qt.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "app/analysis/overview.h"
#include "app/report/report.h"
#include "collector/trace/error.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fp8scope::cli {
namespace {

struct ReportOptions {
    std::filesystem::path file;
    std::filesystem::path output;
};

void writeText(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out)
        throw Error(fmt::format("cannot be written ({})", std::strerror(errno)), path.string(),
                    "check the folder's permissions and free space");
}

void writePdf(const std::filesystem::path& trace, const std::filesystem::path& output,
              const std::filesystem::path& self)
{
    const std::filesystem::path gui = self.parent_path() / "fp8scope-gui";
    if (!std::filesystem::exists(gui))
        throw Error("writing PDF needs fp8scope-gui, which is not installed beside this program", gui.string(),
                    "install it, or write report.html or report.md instead");
    std::string arguments[] = {gui.string(), "--export-pdf", output.string(), trace.string()};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), arguments[3].data(), nullptr};
    pid_t child = 0;
    if (const int error = posix_spawn(&child, argv[0], nullptr, nullptr, argv, environ); error != 0)
        throw Error(fmt::format("cannot be started ({})", std::strerror(error)), gui.string(), "reinstall it");
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw Error("fp8scope-gui could not write the PDF", output.string(), "its message stands above");
}

std::string today()
{
    const std::time_t now = std::time(nullptr);
    return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(now));
}

void runReport(const ReportOptions& options, const Program& program)
{
    const std::string extension = options.output.extension().string();
    if (extension != ".pdf" && extension != ".md" && extension != ".html")
        throw Error(fmt::format("'{}' is no kind of report", extension), options.output.string(),
                    "end the name in .pdf, .html or .md");
    if (extension == ".pdf") {
        writePdf(options.file, options.output, program.executable);
    } else {
        const Trace trace = openWithProgress(options.file);
        const report::Report report =
            report::buildReport(trace, analysis::overview(trace), options.file.filename().string(), today());
        writeText(options.output, extension == ".md" ? report::toMarkdown(report) : report::toHtml(report));
    }
    print(fmt::format("wrote {}\n", options.output.string()));
}

}  // namespace

void addReportCommand(CLI::App& app, Program& program)
{
    auto options = std::make_shared<ReportOptions>();
    CLI::App* command = app.add_subcommand("report", "Write a report: PDF, HTML or Markdown, by the name's ending");
    command->add_option("FILE", options->file, "The trace (.fp8trace)")->required()->option_text(" ");
    command->add_option("-o,--output", options->output, "report.pdf, report.html or report.md")
        ->required()
        ->option_text("REPORT");
    command->callback([options, &program] { runReport(*options, program); });
}

}  // namespace fp8scope::cli
