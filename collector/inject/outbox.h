// SPDX-License-Identifier: Apache-2.0
// What waits to be sent to the recorder, and the connection: never blocks the profiled program, never grows without
// bound.
#pragma once

#include "collector/wire/injection.h"
#include "collector/wire/unique_fd.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fp8scope::inject {

/// Of one thread.
class Outbox {
public:
    static constexpr std::size_t kMaxWaitingBytes = std::size_t{16} << 20;

    /// Connects; lost() from the start if nobody listens.
    explicit Outbox(const std::string& socketPath);

    /// False when so much waits that slices must be dropped. Definitions are few and always taken.
    [[nodiscard]] bool hasRoom() const { return m_waiting < kMaxWaitingBytes; }
    void put(std::span<const std::byte>);
    /// Sends what the socket takes without waiting.
    void send();
    /// A command of the recorder, if one has come.
    [[nodiscard]] std::optional<wire::Command> receive();
    /// The connection's descriptor, for poll; -1 once lost.
    [[nodiscard]] int fd() const { return m_socket.get(); }
    [[nodiscard]] bool waiting() const { return m_waiting > 0; }
    /// The recorder is gone, or the program closed the descriptor: from now on everything is thrown away.
    [[nodiscard]] bool lost() const { return !m_socket.valid(); }
    /// Closes this process's end and forgets what waits.
    void close();

private:
    /// Forgets the connection without touching the descriptor, which is another file by now.
    void abandon();
    void forgetWaiting();
    /// A program that closes all descriptors, as daemons do, may get our number for a file of its own.
    [[nodiscard]] bool stillOurs() const;

    wire::UniqueFd m_socket;
    ino_t m_inode = 0;
    std::deque<std::vector<std::byte>> m_parts;
    std::size_t m_sentOfFirst = 0;
    std::size_t m_waiting = 0;
};

}  // namespace fp8scope::inject
