// SPDX-License-Identifier: Apache-2.0
// One trace event as text: what its keys said, whatever their order. Nothing is copied but strings with escapes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fp8scope::import {

/// Keys of an event itself.
enum class EventKey : std::uint8_t { Phase, Category, Name, Pid, Tid, Ts, Dur, Id, Args, None };

/// Keys of "args" that mean something to the importer, in every spelling that a writer had.
enum class ArgKey : std::uint8_t {
    ExternalId,
    Correlation,
    Device,
    Stream,
    Bytes,
    Grid,
    Block,
    Registers,
    SharedMemory,
    GraphNode,
    Dims,
    Types,
    Strides,
    Concrete,
    ModuleHierarchy,
    SequenceNumber,
    ForwardThread,
    Collective,
    MessageElements,
    GroupSize,
    Dtype,
    Group,
    GroupRanks,
    Sequence,
    NameOfRow,    ///< of metadata events
    LabelsOfRow,  ///< of metadata events: "CPU", "GPU 3"
    MemoryBytes,  ///< of [memory]: what was taken (or given back, if negative)
    MemoryAllocated,
    MemoryReserved,
    MemoryDeviceType,
    MemoryDevice,
    None,
};
inline constexpr std::size_t kArgKeys = static_cast<std::size_t>(ArgKey::None);

[[nodiscard]] EventKey eventKeyOf(std::string_view);
[[nodiscard]] ArgKey argKeyOf(std::string_view);

/// A value as the file prints it: a scalar with its quotes, or an array or object whole. Empty: not said.
struct RawValue {
    std::string_view text;

    [[nodiscard]] bool said() const { return !text.empty(); }
    [[nodiscard]] bool isString() const { return text.size() >= 2 && text.front() == '"'; }
    /// Without the quotes; escapes are still there.
    [[nodiscard]] std::string_view unquoted() const { return isString() ? text.substr(1, text.size() - 2) : text; }
    /// A decimal or 0x number, also between quotes or negative (then as two's complement); `fallback` otherwise.
    [[nodiscard]] std::uint64_t number(std::uint64_t fallback = 0) const;
    [[nodiscard]] std::int64_t signedNumber(std::int64_t fallback = 0) const
    {
        return static_cast<std::int64_t>(number(static_cast<std::uint64_t>(fallback)));
    }
    /// Whether number() has something to read.
    [[nodiscard]] bool isNumber() const;
};

struct EventText {
    std::array<RawValue, static_cast<std::size_t>(EventKey::Args)> event;
    std::array<RawValue, kArgKeys> args;
    std::string_view argsObject;  ///< of counters, whose keys are names: the whole object

    [[nodiscard]] const RawValue& operator[](EventKey key) const { return event[static_cast<std::size_t>(key)]; }
    [[nodiscard]] const RawValue& operator[](ArgKey key) const { return args[static_cast<std::size_t>(key)]; }
    [[nodiscard]] char phase() const
    {
        const std::string_view text = event[0].unquoted();
        return text.size() == 1 ? text[0] : '\0';
    }
};

}  // namespace fp8scope::import
