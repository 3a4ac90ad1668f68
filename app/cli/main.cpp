// SPDX-License-Identifier: Apache-2.0
// `fp8scope`, the headless command: one file a subcommand, one place where errors end.
#include "app/cli/commands.h"
#include "app/cli/version.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace {

std::filesystem::path ownExecutable(const char* argv0)
{
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::path(argv0) : self;
}

int fail(std::string_view message, int code)
{
    fmt::print(stderr, "fp8scope: {}\n", message);
    return code;
}

/// `fp8scope ... | head` has got what it wanted.
bool readerLeft()
{
    pollfd output{STDOUT_FILENO, 0, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

int main(int argc, char** argv)
{
    using namespace fp8scope;
    std::signal(SIGPIPE, SIG_IGN);  // `fp8scope ... | head` ends by a short write, not by a signal

    CLI::App app("fp8scope shows where the time of FP8 training goes.", "fp8scope");
    app.set_version_flag("--version", std::string(cli::kVersionText));
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer("Exit codes: 0 done, 1 could not be done, 2 wrong arguments or configuration, 3 a run ended early\n"
               "(what it recorded is kept). `fp8scope COMMAND --help` explains a command.");

    cli::Program program;
    program.executable = ownExecutable(argv[0]);
    cli::addRunCommand(app, program);
    cli::addCollectCommand(app, program);
    cli::addCtlCommand(app, program);
    cli::addImportCommand(app, program);
    cli::addExportCommand(app, program);
    cli::addInfoCommand(app, program);
    cli::addBreakdownCommand(app, program);
    cli::addLayersCommand(app, program);
    cli::addGemmsCommand(app, program);
    cli::addKernelsCommand(app, program);
    cli::addCompareCommand(app, program);
    cli::addAdviseCommand(app, program);
    cli::addRanksCommand(app, program);
    cli::addNumericsCommand(app, program);
    cli::addClassifyCommand(app, program);
    cli::addCheckRulesCommand(app, program);
    cli::addQueryCommand(app, program);
    cli::addReportCommand(app, program);
    cli::addPredictCommand(app, program);
    cli::addDevicesCommand(app, program);
    cli::addCalibrateCommand(app, program);
    cli::addEngineWorkerCommand(app, program);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        const int code = app.exit(e);
        return code == 0 ? cli::kSuccess : cli::kUsage;
    } catch (const Error& e) {
        return fail(e.what(), cli::kFailure);
    } catch (const std::bad_alloc&) {
        return fail("out of memory; close other programs or use a smaller trace or batch", cli::kFailure);
    } catch (const std::exception& e) {
        return fail(e.what(), cli::kFailure);
    }
    const bool unwritten = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (unwritten && !readerLeft())
        return fail("standard output cannot be written (disk full or closed)", cli::kFailure);
    return program.exitCode;
}
