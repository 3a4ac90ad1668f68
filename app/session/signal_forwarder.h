// SPDX-License-Identifier: Apache-2.0
// Signals sent to this process, on their way to the command that it runs.
#pragma once

#include "app/session/child_process.h"
#include "collector/wire/unique_fd.h"

#include <chrono>
#include <csignal>

namespace fp8scope::session {

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 do nothing to this thread but are forwarded. A
/// terminal's Ctrl-C has reached the command already and is not sent twice.
class SignalForwarder {
public:
    SignalForwarder();
    ~SignalForwarder();
    SignalForwarder(const SignalForwarder&) = delete;
    SignalForwarder& operator=(const SignalForwarder&) = delete;

    void forwardTo(ChildProcess&);
    void waitAndForwardTo(ChildProcess&, std::chrono::milliseconds);

private:
    sigset_t m_old{};
    wire::UniqueFd m_fd;
};

}  // namespace fp8scope::session
