// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/mode_name.h"

#include "engine/plan/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fp8scope::plan {
namespace {

const FusionSwitch* findSwitch(std::string_view name)
{
    const auto& all = fusionSwitches();
    const auto found = std::find_if(all.begin(), all.end(), [&](const FusionSwitch& s) { return s.name == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::optional<ModeName> parseModeName(std::string_view name, std::string& broken)
{
    std::size_t end = std::min(name.find('+'), name.size());
    ModeName mode{.preset = name.substr(0, end), .added = {}};
    if (std::find(modeNames().begin(), modeNames().end(), mode.preset) == modeNames().end()) {
        broken = fmt::format("the modes are {}", fmt::join(modeNames(), ", "));
        return {};
    }
    while (end < name.size()) {
        const std::size_t begin = end + 1;
        end = std::min(name.find('+', begin), name.size());
        const std::string_view word = name.substr(begin, end - begin);
        const FusionSwitch* fusion = findSwitch(word);
        if (fusion == nullptr) {
            broken = fmt::format("no fusion is named '{}'", word);
            return {};
        }
        if (std::find(mode.added.begin(), mode.added.end(), fusion) != mode.added.end()) {
            broken = fmt::format("'{}' is added twice", word);
            return {};
        }
        mode.added.push_back(fusion);
    }
    if (mode.preset == "bf16" && !mode.added.empty()) {
        broken = "bf16 casts nothing, so there is no fusion to add";
        return {};
    }
    return mode;
}

}  // namespace fp8scope::plan
