// SPDX-License-Identifier: Apache-2.0
// What of this machine's CPU the executor uses. Internal to engine/cpu; cpuInfo() is the public view.
#pragma once

#include "engine/kernels/cpu_kernels.h"

namespace fp8scope::cpu {

/// Cores that the process may run on, lowered to the CPU time that control groups grant. At least 1.
[[nodiscard]] int usableCores();

/// The CPU's best vector level, lowered by the environment's FP8SCOPE_SIMD. Throws Error for an unknown word there.
[[nodiscard]] kernels::VectorLevel vectorLevelHere();

}  // namespace fp8scope::cpu
