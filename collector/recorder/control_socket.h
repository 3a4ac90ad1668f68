// SPDX-License-Identifier: Apache-2.0
// How one asks a running recording to start, stop, tell its state or set a mark: lines of text over a socket beside the
// recorder's.
#pragma once

#include "collector/recorder/unix_listener.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::recorder {

/// The recording's end. Has no thread: serve() is called often.
class ControlSocket {
public:
    /// Listens on `control` in the session's directory. Throws Error if it cannot.
    explicit ControlSocket(const std::filesystem::path& sessionDirectory);

    /// Answers who is asking now. `answer` gets the line and gives the reply.
    void serve(const std::function<std::string(std::string_view)>& answer);

private:
    UnixListener m_listener;
};

/// A recording of this user's that runs on this machine.
struct RunningSession {
    std::uint32_t pid = 0;
    std::filesystem::path socket;
};
[[nodiscard]] std::vector<RunningSession> runningSessions();

/// Sends a line and returns the reply. Throws Error when the recording does not answer.
[[nodiscard]] std::string ask(const RunningSession&, const std::string& line);

}  // namespace fp8scope::recorder
