// SPDX-License-Identifier: Apache-2.0
#include "collector/inject/outbox.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace fp8scope::inject {

namespace {

wire::UniqueFd connectTo(const std::string& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path)
        return {};
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    wire::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return {};
    // Out of the way of programs that expect the lowest free number, or that close a handful above standard error.
    constexpr int kLeastDescriptor = 200;
    const int high = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLeastDescriptor);
    return high >= 0 ? wire::UniqueFd(high) : std::move(fd);
}

}  // namespace

Outbox::Outbox(const std::string& socketPath) : m_socket(connectTo(socketPath))
{
    struct stat status {};
    if (m_socket.valid() && ::fstat(m_socket.get(), &status) == 0)
        m_inode = status.st_ino;
}

bool Outbox::stillOurs() const
{
    struct stat status {};
    return ::fstat(m_socket.get(), &status) == 0 && S_ISSOCK(status.st_mode) && status.st_ino == m_inode;
}

void Outbox::put(std::span<const std::byte> bytes)
{
    if (lost() || bytes.empty())
        return;
    m_parts.emplace_back(bytes.begin(), bytes.end());
    m_waiting += bytes.size();
}

void Outbox::send()
{
    if (!lost() && !stillOurs())
        abandon();
    while (!lost() && !m_parts.empty()) {
        const auto part = std::span(m_parts.front()).subspan(m_sentOfFirst);
        const ssize_t sent = ::send(m_socket.get(), part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0)
            return close();
        m_waiting -= static_cast<std::size_t>(sent);
        m_sentOfFirst += static_cast<std::size_t>(sent);
        if (m_sentOfFirst == m_parts.front().size()) {
            m_parts.pop_front();
            m_sentOfFirst = 0;
        }
    }
}

std::optional<wire::Command> Outbox::receive()
{
    if (lost())
        return std::nullopt;
    char byte = 0;
    const ssize_t got = ::recv(m_socket.get(), &byte, 1, MSG_DONTWAIT);
    if (got == 0)
        close();
    if (got == 1 && (byte == 'S' || byte == 'P'))
        return static_cast<wire::Command>(byte);
    return std::nullopt;
}

void Outbox::close()
{
    m_socket.reset();
    forgetWaiting();
}

void Outbox::abandon()
{
    m_socket.release();
    forgetWaiting();
}

void Outbox::forgetWaiting()
{
    m_parts.clear();
    m_sentOfFirst = 0;
    m_waiting = 0;
}

}  // namespace fp8scope::inject
