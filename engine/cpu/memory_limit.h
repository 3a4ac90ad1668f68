// SPDX-License-Identifier: Apache-2.0
// How much memory a new process may still take: the machine's free memory, lowered by control groups (containers, batch
// systems), version 1 and 2.
#pragma once

#include <cstdint>
#include <filesystem>

namespace fp8scope::cpu {

struct MemoryState {
    std::uint64_t totalBytes = 0;      ///< of the machine
    std::uint64_t availableBytes = 0;  ///< that may be taken now
};

/// Reads proc/ and sys/fs/cgroup/ under `root` ("/" but in tests). What is unreadable limits nothing.
[[nodiscard]] MemoryState memoryState(const std::filesystem::path& root);

/// CPUs' worth of time that control groups grant, rounded up; 0: unlimited.
[[nodiscard]] int cpuQuota(const std::filesystem::path& root);

}  // namespace fp8scope::cpu
