// SPDX-License-Identifier: Apache-2.0
// Places a plan's tensors in one arena: tensors that are never live at the same time share bytes. Internal to
// engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

namespace fp8scope::plan {

/// Sets firstUse, lastUse and offset of every tensor, and arenaBytes.
/// Persistent tensors lie first and share with none; views lie in their parents. With keepTensors nothing is shared.
void planMemory(StepPlan&, const PlanOptions&);

/// The bytes live at the busiest op, each tensor rounded up to 256: no placement can need less.
[[nodiscard]] std::size_t lifetimeLowerBound(const StepPlan&);

}  // namespace fp8scope::plan
