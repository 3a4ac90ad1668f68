// SPDX-License-Identifier: Apache-2.0
// How `fp8scope collect` tells the injected library what to do: environment variables, inherited by every child, and
// one-byte commands that the recorder sends down a producer's connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fp8scope::wire {

inline constexpr const char* kSocketVariable = "FP8SCOPE_SOCKET";
inline constexpr const char* kCuptiVariable = "FP8SCOPE_CUPTI";    ///< path of a CUPTI to use; else it is searched
inline constexpr const char* kKindsVariable = "FP8SCOPE_KINDS";    ///< "kernel,memcpy,..."; else kDefaultKinds
inline constexpr const char* kGraphsVariable = "FP8SCOPE_GRAPHS";  ///< "as-one": a CUDA graph's launch is one slice
inline constexpr const char* kMemoryVariable = "FP8SCOPE_MEMORY";  ///< MiB of buffers at most
inline constexpr const char* kStartVariable = "FP8SCOPE_START";    ///< "paused", "cuda-profiler"; else at once
inline constexpr const char* kCommandLineVariable = "FP8SCOPE_CMDLINE";  ///< "0": arguments are not recorded

/// What may be recorded, one bit each.
enum class RecordKind : std::uint8_t { Kernel, Memcpy, Memset, Runtime, Driver, Sync, Nvtx, Overhead, Memory };
inline constexpr std::array<std::string_view, 9> kRecordKindNames{"kernel", "memcpy", "memset",   "runtime", "driver",
                                                                  "sync",   "nvtx",   "overhead", "memory"};
inline constexpr std::size_t kRecordKindCount = kRecordKindNames.size();

class RecordKinds {
public:
    constexpr RecordKinds() = default;
    constexpr void insert(RecordKind kind) { m_bits |= bit(kind); }
    [[nodiscard]] constexpr bool contains(RecordKind kind) const { return (m_bits & bit(kind)) != 0; }
    [[nodiscard]] constexpr bool empty() const { return m_bits == 0; }
    friend constexpr bool operator==(RecordKinds, RecordKinds) = default;

private:
    static constexpr std::uint32_t bit(RecordKind kind) { return 1U << static_cast<unsigned>(kind); }
    std::uint32_t m_bits = 0;
};

/// Everything but memory operations, which are many and seldom asked for.
inline constexpr std::string_view kDefaultKinds = "kernel,memcpy,memset,runtime,driver,sync,nvtx,overhead";

[[nodiscard]] constexpr std::optional<RecordKind> recordKindFromString(std::string_view word)
{
    for (std::size_t i = 0; i < kRecordKindCount; ++i) {
        if (kRecordKindNames[i] == word)
            return static_cast<RecordKind>(i);
    }
    return std::nullopt;
}

/// "kernel,memcpy" to a set; nullopt if it is empty or a word is unknown.
[[nodiscard]] constexpr std::optional<RecordKinds> recordKindsFromString(std::string_view list)
{
    RecordKinds kinds;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        const auto kind = recordKindFromString(list.substr(0, comma));
        if (!kind)
            return std::nullopt;
        kinds.insert(*kind);
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
    return kinds.empty() ? std::nullopt : std::optional(kinds);
}

/// From the recorder to a producer.
enum class Command : std::uint8_t {
    Start = 'S',
    Pause = 'P',  ///< flush what was recorded, then record nothing until Start
};

}  // namespace fp8scope::wire
