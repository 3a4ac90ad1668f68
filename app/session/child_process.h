// SPDX-License-Identifier: Apache-2.0
// A child process with an owner: started, signalled, waited for, never left behind.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace fp8scope::session {

/// How a process ended.
struct ExitStatus {
    int code = 0;    ///< its exit code, if it was not killed
    int signal = 0;  ///< the signal that killed it; 0: it exited
};

struct ChildCommand {
    std::filesystem::path program;
    std::vector<std::string> arguments;                                 ///< without the program's name
    std::vector<std::pair<std::string, std::string>> addedEnvironment;  ///< over this process's
    std::filesystem::path output;  ///< file that takes the child's standard output and error; standard input is empty.
                                   ///< Empty: the child has this process's, and `program` is searched in PATH
};

class ChildProcess {
public:
    /// Starts it with no signal blocked, and SIGINT, SIGTERM, SIGPIPE and SIGXFSZ at their defaults. Throws Error,
    /// naming the program, if it cannot be started.
    explicit ChildProcess(const ChildCommand&);
    ~ChildProcess();  ///< Kills it if it still runs.
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// nullopt while it runs. Does not wait.
    [[nodiscard]] std::optional<ExitStatus> poll();
    /// Waits for its end.
    ExitStatus wait();
    /// Does nothing once poll() has given a status.
    void send(int signal);

private:
    [[nodiscard]] std::optional<ExitStatus> reap(int options);

    pid_t m_pid = -1;
    std::optional<ExitStatus> m_status;
};

}  // namespace fp8scope::session
