// SPDX-License-Identifier: Apache-2.0
// `fp8scope run --fusion`: all, none, names, or the list of what there is.
#pragma once

#include "engine/plan/config.h"

#include <string>
#include <string_view>

namespace fp8scope::cli {

/// Applies one word of the option: "all" (what fp8-fused has with the config's recipe, in every mode that can have it),
/// "none", "NAME" or "NAME=BOOL". Throws Error for an unknown name, with the nearest.
void applyFusionWord(plan::MlpConfig&, std::string_view word);

/// A line for each fusion: its name, whether fp8-fused has it with the config's recipe, and what it does.
[[nodiscard]] std::string fusionList(const plan::MlpConfig&);

}  // namespace fp8scope::cli
