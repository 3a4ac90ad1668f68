// SPDX-License-Identifier: Apache-2.0
// What the categories of PyTorch's profiler mean, of every generation (2021: "Operator", "Kernel"; now: "cpu_op").
#pragma once

#include <cstdint>
#include <string_view>

namespace fp8scope::import {

enum class SpanKind : std::uint8_t {
    Kernel,
    Memcpy,
    Memset,
    DeviceWait,   ///< drawn on a device's row, but nothing runs there
    DeviceRange,  ///< a user's range, projected onto the device
    Op,
    Api,
    Range,
    Frame,
    Overhead,
    ProfilerSpan,  ///< the profiler's own "I was on": says nothing of the program
    Unknown,
};

[[nodiscard]] SpanKind spanKindOf(std::string_view category);

enum class FlowKind : std::uint8_t { Launch, ForwardBackward, Unknown };
[[nodiscard]] FlowKind flowKindOf(std::string_view category);

}  // namespace fp8scope::import
