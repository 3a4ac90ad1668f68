// SPDX-License-Identifier: Apache-2.0
#include "app/session/child_process.h"

#include "collector/trace/error.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fp8scope::session {

namespace {

std::vector<char*> pointersTo(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environmentWith(const std::vector<std::pair<std::string, std::string>>& added)
{
    std::vector<std::string> environment;
    for (const auto& [name, value] : added)
        environment.push_back(name + "=" + value);  // first, so that it wins over an inherited one
    for (char** entry = environ; *entry != nullptr; ++entry)
        environment.emplace_back(*entry);
    return environment;
}

/// posix_spawn's two parameter objects.
struct SpawnSetup {
    explicit SpawnSetup(const std::filesystem::path& output)
    {
        ::posix_spawn_file_actions_init(&actions);
        if (!output.empty())
            redirectTo(output);

        sigset_t none, defaults;
        ::sigemptyset(&none);
        ::sigemptyset(&defaults);
        for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ})
            ::sigaddset(&defaults, signal);
        ::posix_spawnattr_init(&attributes);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &defaults);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSetup()
    {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    void redirectTo(const std::filesystem::path& output)
    {
        ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                           0600);
        ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command)
{
    std::vector<std::string> arguments{command.program.string()};
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    std::vector<std::string> environment = environmentWith(command.addedEnvironment);
    const SpawnSetup setup(command.output);
    auto* const spawn = command.output.empty() ? ::posix_spawnp : ::posix_spawn;
    const int failure = spawn(&m_pid, command.program.c_str(), &setup.actions, &setup.attributes,
                              pointersTo(arguments).data(), pointersTo(environment).data());
    if (failure != 0)
        throw Error(std::string("cannot be started (") + std::strerror(failure) + ")", command.program.string(),
                    command.output.empty() ? "check the command's name" : "check that the program is installed whole");
}

ChildProcess::~ChildProcess()
{
    if (!m_status) {
        send(SIGKILL);
        wait();
    }
}

std::optional<ExitStatus> ChildProcess::reap(int options)
{
    int status = 0;
    if (!m_status && ::waitpid(m_pid, &status, options) == m_pid) {
        if (WIFSIGNALED(status))
            m_status = ExitStatus{.signal = WTERMSIG(status)};
        else
            m_status = ExitStatus{.code = WEXITSTATUS(status)};
    }
    return m_status;
}

std::optional<ExitStatus> ChildProcess::poll() { return reap(WNOHANG); }

ExitStatus ChildProcess::wait()
{
    while (!reap(0)) {
    }
    return *m_status;
}

void ChildProcess::send(int signal)
{
    if (!m_status)
        ::kill(m_pid, signal);
}

}  // namespace fp8scope::session
