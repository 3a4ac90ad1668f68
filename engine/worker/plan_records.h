// SPDX-License-Identifier: Apache-2.0
// What a plan says of itself, as wire records.
#pragma once

#include "collector/wire/records.h"
#include "engine/plan/step_plan.h"

#include <cstddef>

namespace fp8scope::worker {

[[nodiscard]] wire::Layer layerRecord(const plan::StepPlan&, std::size_t layer);

/// A GEMM's a and b are those of the row-major view that m, n and k are given in (cuBLASLt's B and A); another op's a
/// is its first input, d its first output.
[[nodiscard]] wire::Op opRecord(const plan::StepPlan&, std::size_t op, wire::LocalLayer layer);

/// A slice of an op is named after the op. A GEMM's precision is that of its operands, another op's that of what it
/// writes.
[[nodiscard]] wire::Name nameRecord(const plan::StepPlan&, std::size_t op);

}  // namespace fp8scope::worker
