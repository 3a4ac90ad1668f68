// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace fp8scope::test {

/// Bytes as a file that is never on a disk, for readers that open paths.
class MemoryFile {
public:
    MemoryFile(const std::uint8_t* bytes, std::size_t size) : m_descriptor(::memfd_create("fuzz", MFD_CLOEXEC))
    {
        if (m_descriptor < 0 || ::write(m_descriptor, bytes, size) != static_cast<ssize_t>(size))
            std::abort();
    }
    ~MemoryFile() { ::close(m_descriptor); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    [[nodiscard]] std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(m_descriptor); }

private:
    int m_descriptor;
};

}  // namespace fp8scope::test
