// SPDX-License-Identifier: Apache-2.0
// A directory of one recording: its socket and what its child processes are handed. Only the owner may enter it.
#pragma once

#include <filesystem>
#include <vector>

namespace fp8scope::recorder {

/// Where recordings put their directories: XDG_RUNTIME_DIR, TMPDIR, /tmp, as far as set.
[[nodiscard]] std::vector<std::filesystem::path> sessionRoots();

/// Made with mode 0700, removed with everything in it.
class SessionDirectory {
public:
    /// Takes the first root in which a directory can be made whose socket's path is short enough for the system (107
    /// bytes). Throws Error, naming the roots, if there is none.
    explicit SessionDirectory(const std::vector<std::filesystem::path>& roots = sessionRoots());
    ~SessionDirectory();
    SessionDirectory(const SessionDirectory&) = delete;
    SessionDirectory& operator=(const SessionDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::filesystem::path socket() const { return m_path / "socket"; }

private:
    std::filesystem::path m_path;
};

}  // namespace fp8scope::recorder
