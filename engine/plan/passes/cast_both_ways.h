// SPDX-License-Identifier: Apache-2.0
// cast_transpose for the recipes whose transposes have scales of their own. Internal to engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

namespace fp8scope::plan {

/// A tensor that is cast as it is and, with other scales, for its transpose -> one read of it for both. Needs
/// fuseCastChain, but for the recipe blockwise.
[[nodiscard]] StepPlan castBothWays(StepPlan);

}  // namespace fp8scope::plan
