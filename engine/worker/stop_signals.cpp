// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/stop_signals.h"

#include <atomic>
#include <sys/prctl.h>
#include <unistd.h>

namespace fp8scope::worker {

namespace {

// A handler reaches nothing but what is static.
std::atomic<bool> stopRequested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void noteStop(int) { stopRequested.store(true, std::memory_order_relaxed); }

}  // namespace

StopSignals::StopSignals(int parent)
{
    stopRequested = false;
    struct sigaction action = {};
    action.sa_handler = noteStop;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &m_oldInterrupt);
    ::sigaction(SIGTERM, &action, &m_oldTerminate);
    if (parent > 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent)  // it ended before the call above
            stopRequested = true;
    }
}

StopSignals::~StopSignals()
{
    ::sigaction(SIGINT, &m_oldInterrupt, nullptr);
    ::sigaction(SIGTERM, &m_oldTerminate, nullptr);
}

bool StopSignals::requested() const { return stopRequested.load(std::memory_order_relaxed); }

}  // namespace fp8scope::worker
