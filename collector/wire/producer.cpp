// SPDX-License-Identifier: Apache-2.0
#include "collector/wire/producer.h"

#include "collector/trace/error.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace fp8scope::wire {

namespace {

UniqueFd connectTo(const std::string& path)
{
    const std::string mend = "start the program through fp8scope, which makes the recorder's socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        throw Error("the path of the recorder's socket is too long", path, mend);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd.valid() && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return fd;
    const std::string reason = std::strerror(errno);
    throw Error("cannot reach the recorder (" + reason + ")", path, mend);
}

}  // namespace

Producer::Producer(const std::filesystem::path& socket, const Hello& hello) : m_socket(connectTo(socket.string()))
{
    m_encoder.append(hello);
    flush();
}

Producer::~Producer() { flush(); }

void Producer::flush() noexcept
{
    auto bytes = m_encoder.bytes();
    while (connected() && !bytes.empty()) {
        // MSG_NOSIGNAL: a recorder that died must not kill the program by SIGPIPE.
        const ssize_t sent = ::send(m_socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        else if (sent < 0 && errno != EINTR)
            m_socket.reset();
    }
    m_encoder.clear();
}

Hello helloOfThisProcess(std::string token, std::string processName)
{
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    return {.token = std::move(token),
            .pid = static_cast<std::uint32_t>(::getpid()),
            .processName = std::move(processName),
            .host = host,
            .rank = -1};
}

}  // namespace fp8scope::wire
