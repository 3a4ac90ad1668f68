// SPDX-License-Identifier: Apache-2.0
// The modes whose steps tell what each fusion buys: plain fp8, then one fusion after the other, and each alone.
#pragma once

#include "engine/plan/config.h"

#include <string>
#include <utility>
#include <vector>

namespace fp8scope::plan {

struct AblationModes {
    /// "bf16", "fp8", "fp8+a", "fp8+a+b", ... in the order of fusionSwitches(), the last as "fp8-fused" where that is
    /// what it is; then "fp8+b", ...: each fusion with nothing but what it needs.
    std::vector<std::string> modes;
    std::vector<std::pair<std::string, std::string>> skipped;  ///< fusions left out, each with the reason
};

/// Throws Error when the configuration sets fusions by hand (they would be in every mode), or cannot be planned.
[[nodiscard]] AblationModes ablationModes(const MlpConfig&);

}  // namespace fp8scope::plan
