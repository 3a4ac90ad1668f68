// SPDX-License-Identifier: Apache-2.0
// What a run would take of this machine, before it starts.
#pragma once

#include "engine/plan/step_plan.h"

#include <cstddef>
#include <span>

namespace fp8scope::cpu {

struct RunCost {
    std::size_t bytes = 0;           ///< of the hungriest mode: arena, data set and scratch
    std::size_t availableBytes = 0;  ///< that a new process may take now
    double flops = 0;                ///< of all steps of all modes
    double movedBytes = 0;           ///< at least moved by what is no GEMM
    double flopsPerSecond = 0;       ///< measured here with one GEMM of 1024^3
    double seconds = 0;              ///< GEMMs at that rate, the rest at an assumed 5 GB/s
};

/// Takes some tens of milliseconds for the measurement. `threads` as in ExecutorOptions.
[[nodiscard]] RunCost runCost(std::span<const plan::StepPlan> modes, int threads = 0);

/// Throws Error, with the bytes needed and those available and the hours that it would take, when the modes need more
/// memory than there is or more than `maxHours`.
void refuseTooLarge(std::span<const plan::StepPlan> modes, double maxHours, int threads = 0);

}  // namespace fp8scope::cpu
