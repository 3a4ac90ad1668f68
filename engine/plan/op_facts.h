// SPDX-License-Identifier: Apache-2.0
// What follows from an op's kind and operands: role, fused roles, shape, FLOPs, least bytes. Internal to engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

namespace fp8scope::plan {

/// Fills the derived fields of every op: role, fused, m, n, k, flops, bytes.
/// Bytes: each operand read once and written once, in-place ones both. FLOPs: GEMMs 2mnk; elsewhere each floating-point
/// operation (also a comparison or an exponential) counts one.
void deriveOpFacts(StepPlan&);

}  // namespace fp8scope::plan
