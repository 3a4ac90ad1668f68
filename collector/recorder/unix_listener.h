// SPDX-License-Identifier: Apache-2.0
// The recorder's socket: listens without blocking, takes only this user's processes.
#pragma once

#include "collector/wire/unique_fd.h"

#include <filesystem>
#include <optional>

namespace fp8scope::recorder {

class UnixListener {
public:
    /// Throws Error if the socket cannot be made there.
    explicit UnixListener(const std::filesystem::path& socket);

    /// A new connection, non-blocking; nullopt when none waits. One of another user is closed and counted.
    [[nodiscard]] std::optional<wire::UniqueFd> accept();

    [[nodiscard]] int fd() const { return m_fd.get(); }
    [[nodiscard]] unsigned strangers() const { return m_strangers; }

private:
    wire::UniqueFd m_fd;
    unsigned m_strangers = 0;
};

}  // namespace fp8scope::recorder
