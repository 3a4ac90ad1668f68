// SPDX-License-Identifier: Apache-2.0
#include "collector/recorder/unix_listener.h"

#include "collector/trace/error.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace fp8scope::recorder {

namespace {

bool isOfThisUser(int fd)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace

UnixListener::UnixListener(const std::filesystem::path& socket)
    : m_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = socket.string();
    if (path.size() >= sizeof address.sun_path)
        throw Error("the path of the recorder's socket is too long", path, "set TMPDIR to a shorter path");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    constexpr int kBacklog = 64;
    if (!m_fd.valid() || ::bind(m_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(m_fd.get(), kBacklog) != 0)
        throw Error(std::string("cannot listen (") + std::strerror(errno) + ")", path,
                    "set TMPDIR to a directory on a local file system");
}

std::optional<wire::UniqueFd> UnixListener::accept()
{
    for (;;) {
        wire::UniqueFd fd(::accept4(m_fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (fd.valid() && isOfThisUser(fd.get()))
            return fd;
        if (fd.valid())
            ++m_strangers;
        else if (errno != EINTR && errno != ECONNABORTED)
            return std::nullopt;
    }
}

}  // namespace fp8scope::recorder
