// SPDX-License-Identifier: Apache-2.0
// The plan before any fusion. Internal to engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

namespace fp8scope::plan {

/// One training step of one micro-batch, one op for each kernel that an eager framework would launch: ops and tensors,
/// without derived facts and without memory. `settings.fusions` is only recorded.
[[nodiscard]] StepPlan buildUnfused(const MlpConfig&, const ModeSettings&);

/// Why the recipe cannot run a linear layer of this shape in fp8 on a GPU with TN-only fp8 GEMMs; empty when it can.
/// `rows`: of a micro-batch.
[[nodiscard]] std::string fp8Obstacle(std::int64_t inFeatures, std::int64_t outFeatures, std::int64_t rows, RecipeKind);

}  // namespace fp8scope::plan
