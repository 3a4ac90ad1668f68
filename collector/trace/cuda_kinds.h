// SPDX-License-Identifier: Apache-2.0
// CUDA's own small enumerations, which nsys keeps as numbers, in the words of PyTorch's profiler. By number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fp8scope {

/// CUpti_ActivityMemcpyKind; the last three are nsys' own, for copies that the driver makes of managed memory.
inline constexpr std::array<std::string_view, 14> kCopyWays{
    "",     "HtoD", "DtoH", "HtoA", "AtoH",         "AtoA",         "AtoD",
    "DtoA", "DtoD", "HtoH", "PtoP", "Unified HtoD", "Unified DtoH", "Unified DtoD"};

/// nsys' ENUM_CUDA_MEM_KIND: CUpti_ActivityMemoryKind less one.
inline constexpr std::array<std::string_view, 7> kMemoryKinds{"Pageable", "Pinned",        "Device",        "Array",
                                                              "Managed",  "Device Static", "Managed Static"};

/// CUpti_ActivitySynchronizationType.
inline constexpr std::array<std::string_view, 5> kWaitKinds{"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                            "Context Sync"};

/// Empty for a number that is none.
template <std::size_t N>
[[nodiscard]] constexpr std::string_view kindName(const std::array<std::string_view, N>& kinds, std::int64_t number)
{
    return number >= 0 && number < static_cast<std::int64_t>(N) ? kinds[static_cast<std::size_t>(number)]
                                                                : std::string_view();
}

template <std::size_t N>
[[nodiscard]] constexpr std::optional<std::int64_t> kindNumber(const std::array<std::string_view, N>& kinds,
                                                               std::string_view name)
{
    for (std::size_t i = 0; i < N; ++i)
        if (kinds[i] == name && !name.empty())
            return static_cast<std::int64_t>(i);
    return std::nullopt;
}

}  // namespace fp8scope
