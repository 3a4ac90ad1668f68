// SPDX-License-Identifier: Apache-2.0
#include "collector/import/nsys_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace fp8scope::import {
namespace {

/// ENUM_CUDA_MEM_KIND.
constexpr std::array<std::string_view, 7> kMemory{"Pageable", "Pinned",        "Device",        "Array",
                                                  "Managed",  "Device Static", "Managed Static"};
/// ENUM_CUDA_MEMCPY_OPER; the last three are the driver's, for managed memory.
constexpr std::array<std::string_view, 14> kCopy{"",     "HtoD",         "DtoH",         "HtoA",        "AtoH",
                                                 "AtoA", "AtoD",         "DtoA",         "DtoD",        "HtoH",
                                                 "PtoP", "Unified HtoD", "Unified DtoH", "Unified DtoD"};
/// ENUM_CUPTI_SYNC_TYPE.
constexpr std::array<std::string_view, 5> kWait{"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                "Context Sync"};

template <std::size_t N>
std::string_view entry(const std::array<std::string_view, N>& names, std::int64_t at)
{
    return at >= 0 && at < static_cast<std::int64_t>(N) ? names[static_cast<std::size_t>(at)] : std::string_view();
}

}  // namespace

std::string apiName(const std::string& name)
{
    const std::size_t at = name.rfind("_v");
    if (at == std::string::npos || at == 0 || at + 2 == name.size())
        return name;
    const bool version = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 2, name.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; });
    // "cuMemAlloc_v2" is the driver's own name; versions of CUDA have four digits or more.
    return version && name.size() - at >= 6 ? name.substr(0, at) : name;
}

std::string copyName(std::int64_t copyKind, std::optional<std::int64_t> from, std::optional<std::int64_t> to)
{
    const std::string_view way = entry(kCopy, copyKind);
    std::string name = way.empty() ? "Memcpy" : fmt::format("Memcpy {}", way);
    const std::string_view source = from ? entry(kMemory, *from) : std::string_view();
    const std::string_view target = to ? entry(kMemory, *to) : std::string_view();
    if (!source.empty() && !target.empty())
        name += fmt::format(" ({} -> {})", source, target);
    return name;
}

std::string memsetName(std::optional<std::int64_t> memoryKind)
{
    const std::string_view memory = memoryKind ? entry(kMemory, *memoryKind) : std::string_view();
    return memory.empty() ? "Memset" : fmt::format("Memset ({})", memory);
}

std::string waitName(std::int64_t syncType)
{
    const std::string_view name = entry(kWait, syncType);
    return std::string(name.empty() ? kWait.front() : name);
}

}  // namespace fp8scope::import
