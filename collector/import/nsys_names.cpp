// SPDX-License-Identifier: Apache-2.0
#include "collector/import/nsys_names.h"

#include "collector/trace/cuda_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace fp8scope::import {

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
    const std::string_view way = kindName(kCopyWays, copyKind);
    std::string name = way.empty() ? "Memcpy" : fmt::format("Memcpy {}", way);
    const std::string_view source = from ? kindName(kMemoryKinds, *from) : std::string_view();
    const std::string_view target = to ? kindName(kMemoryKinds, *to) : std::string_view();
    if (!source.empty() && !target.empty())
        name += fmt::format(" ({} -> {})", source, target);
    return name;
}

std::string memsetName(std::optional<std::int64_t> memoryKind)
{
    const std::string_view memory = memoryKind ? kindName(kMemoryKinds, *memoryKind) : std::string_view();
    return memory.empty() ? "Memset" : fmt::format("Memset ({})", memory);
}

std::string waitName(std::int64_t syncType)
{
    const std::string_view name = kindName(kWaitKinds, syncType);
    return std::string(name.empty() ? kWaitKinds.front() : name);
}

}  // namespace fp8scope::import
