// SPDX-License-Identifier: Apache-2.0
#include "collector/recorder/control_socket.h"

#include "collector/recorder/session_directory.h"
#include "collector/trace/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace fp8scope::recorder {

namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr int kPatienceMs = 1000;

/// Up to the newline, without it; what came until the other side fell silent.
std::string readLine(int fd)
{
    std::string line;
    char byte = 0;
    pollfd wait{fd, POLLIN, 0};
    while (line.size() < kMaxLine && ::poll(&wait, 1, kPatienceMs) == 1 && ::recv(fd, &byte, 1, 0) == 1 && byte != '\n')
        line += byte;
    return line;
}

void writeLine(int fd, std::string line)
{
    line += '\n';
    [[maybe_unused]] const ssize_t sent = ::send(fd, line.data(), line.size(), MSG_NOSIGNAL);
}

std::uint32_t pidOf(const std::filesystem::path& directory)
{
    std::uint32_t pid = 0;
    std::ifstream(directory / "pid") >> pid;
    return pid;
}

}  // namespace

ControlSocket::ControlSocket(const std::filesystem::path& sessionDirectory) : m_listener(sessionDirectory / "control")
{
    std::ofstream(sessionDirectory / "pid") << ::getpid() << '\n';
}

void ControlSocket::serve(const std::function<std::string(std::string_view)>& answer)
{
    while (const auto client = m_listener.accept())
        writeLine(client->get(), answer(readLine(client->get())));
}

std::vector<RunningSession> runningSessions()
{
    std::vector<RunningSession> sessions;
    for (const std::filesystem::path& root : sessionRoots()) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
            const bool ours = entry.path().filename().string().starts_with("fp8scope-");
            const std::filesystem::path socket = entry.path() / "control";
            if (ours && std::filesystem::is_socket(socket, error))
                sessions.push_back({pidOf(entry.path()), socket});
        }
    }
    return sessions;
}

std::string ask(const RunningSession& session, const std::string& line)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = session.socket.string();
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const wire::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw Error(std::string("the recording does not answer (") + std::strerror(errno) + ")", path,
                    "it may have been killed; remove its folder then");
    writeLine(fd.get(), line);
    return readLine(fd.get());
}

}  // namespace fp8scope::recorder
