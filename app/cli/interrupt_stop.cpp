// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupt_stop.h"

#include <chrono>
#include <csignal>

namespace fp8scope::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // a signal handler can reach nothing else

}  // namespace

InterruptStop::InterruptStop()
{
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    m_watcher = std::jthread([this](const std::stop_token& done) {
        while (!done.stop_requested() && interrupted == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (interrupted != 0)
            m_stop.request_stop();
    });
}

}  // namespace fp8scope::cli
