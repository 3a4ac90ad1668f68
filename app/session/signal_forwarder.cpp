// SPDX-License-Identifier: Apache-2.0
#include "app/session/signal_forwarder.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace fp8scope::session {

SignalForwarder::SignalForwarder()
{
    sigset_t forwarded;
    ::sigemptyset(&forwarded);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
        ::sigaddset(&forwarded, signal);
    ::pthread_sigmask(SIG_BLOCK, &forwarded, &m_old);
    m_fd = wire::UniqueFd(::signalfd(-1, &forwarded, SFD_NONBLOCK | SFD_CLOEXEC));
}

SignalForwarder::~SignalForwarder() { ::pthread_sigmask(SIG_SETMASK, &m_old, nullptr); }

void SignalForwarder::forwardTo(ChildProcess& child)
{
    signalfd_siginfo info{};
    while (::read(m_fd.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const bool fromTerminal = info.ssi_code == SI_KERNEL;
        if (!fromTerminal)
            child.send(static_cast<int>(info.ssi_signo));
    }
}

void SignalForwarder::waitAndForwardTo(ChildProcess& child, std::chrono::milliseconds timeout)
{
    pollfd wait{m_fd.get(), POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>(timeout.count()));
    forwardTo(child);
}

}  // namespace fp8scope::session
