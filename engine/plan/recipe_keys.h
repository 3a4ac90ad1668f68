// SPDX-License-Identifier: Apache-2.0
// The configuration keys of [recipe] but for its kind, and the rules between them. Internal to engine/plan.
#pragma once

#include "engine/plan/config_keys.h"

namespace fp8scope::plan {

[[nodiscard]] std::vector<KeyBinding> recipeKeys();

/// A key that is set though the recipe does not use it, or formats that no GEMM multiplies; nullopt if all is well.
[[nodiscard]] std::optional<BrokenRelation> brokenRecipe(const RecipeConfig&);

}  // namespace fp8scope::plan
