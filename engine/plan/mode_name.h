// SPDX-License-Identifier: Apache-2.0
// Names of modes: "bf16", "fp8", "fp8-fused", or an fp8 mode with fusions added to its preset:
// "fp8+cast_chain+cast_transpose". Internal to engine/plan.
#pragma once

#include "engine/plan/config.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::plan {

struct ModeName {
    std::string_view preset;                 ///< one of modeNames()
    std::vector<const FusionSwitch*> added;  ///< in the order given
};

/// The parts of a name, which must outlive them; nullopt with the rule it breaks in `broken` ("no fusion is named
/// 'cast'").
[[nodiscard]] std::optional<ModeName> parseModeName(std::string_view name, std::string& broken);

}  // namespace fp8scope::plan
