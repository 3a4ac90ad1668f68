// SPDX-License-Identifier: Apache-2.0
// The producer's end of the recorder's socket, for a program that may wait for the recorder (the engine's worker).
#pragma once

#include "collector/wire/encoder.h"
#include "collector/wire/unique_fd.h"

#include <filesystem>

namespace fp8scope::wire {

/// Name of the environment variable that hands a child process its token: unlike an argument, only its owner can read
/// it.
inline constexpr const char* kTokenVariable = "FP8SCOPE_TOKEN";

/// Encodes records and sends them over a Unix socket, blocking. If the recorder goes away, it becomes quiet for good:
/// the program goes on and is not told by signal or exception. Not thread-safe.
class Producer {
public:
    /// Connects and says hello. Throws Error when nobody listens there.
    Producer(const std::filesystem::path& socket, const Hello& hello);
    ~Producer();  ///< Sends what is buffered and closes. Without a Bye before, the recorder takes the connection as
                  ///< lost.
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    /// Where records are put; nothing is sent before flush().
    [[nodiscard]] Encoder& records() { return m_encoder; }
    /// Sends what is buffered. Once disconnected, drops it.
    void flush() noexcept;
    /// False once the recorder has gone (noticed when sending).
    [[nodiscard]] bool connected() const { return m_socket.valid(); }

private:
    Encoder m_encoder;
    UniqueFd m_socket;
};

/// Hello with this process's id, name and host filled in.
[[nodiscard]] Hello helloOfThisProcess(std::string token, std::string processName);

}  // namespace fp8scope::wire
