// SPDX-License-Identifier: Apache-2.0
#include "collector/import/nsys_export.h"

#include "collector/import/import.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

extern char** environ;

namespace fp8scope::import {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(50);

/// Starts nsys with its output thrown away; -1 where there is none.
pid_t start(const std::vector<std::string>& words)
{
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? child : -1;
}

/// Waits for the child, and ends it if asked to stop. Gives its wait status.
int waitFor(pid_t child, const std::stop_token& stop)
{
    int status = 0;
    bool ended = false;
    while (true) {
        const pid_t done = ::waitpid(child, &status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR))
            break;
        if (stop.stop_requested() && !ended) {
            ::kill(child, SIGTERM);
            ended = true;
        }
        std::this_thread::sleep_for(kPeriod);
    }
    if (ended)
        throw ImportCancelled{};
    return status;
}

std::string shellQuoted(const std::string& word)
{
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

std::filesystem::path exportNsysReport(const std::filesystem::path& report, const std::filesystem::path& folder,
                                       const std::stop_token& stop)
{
    const std::filesystem::path out = folder / (report.stem().string() + ".sqlite");
    const std::string byHand =
        fmt::format("nsys export --type sqlite --output {} {}", shellQuoted(report.stem().string() + ".sqlite"),
                    shellQuoted(report.string()));
    const pid_t child = start({"nsys", "export", "--type", "sqlite", "--lazy", "true", "--force-overwrite", "true",
                               "--output", out.string(), report.string()});
    if (child < 0)
        throw Error("is a report of Nsight Systems, which only its own `nsys` can read, and no `nsys` is on the PATH",
                    report.string(), fmt::format("where it is installed, run: {}", byHand));
    const int status = waitFor(child, stop);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !std::filesystem::exists(out))
        throw Error("`nsys export` could not read the report", report.string(),
                    fmt::format("see what it says, with the version that recorded it: {}", byHand));
    return out;
}

}  // namespace fp8scope::import
