// SPDX-License-Identifier: Apache-2.0
// How far fp8's outputs and gradients are from bf16's: at some steps the same weights and the same batch go through a
// bf16 plan as well. Comparing whole bf16 and fp8 trainings instead would tell little: two trainings drift apart by
// themselves, as rounding differences grow from step to step.
#pragma once

#include "engine/cpu/cpu_executor.h"
#include "engine/plan/step_plan.h"

#include <string>
#include <vector>

namespace fp8scope::worker {

/// |fp8 - bf16| / |bf16| of one tensor, L2 norms.
struct ShadowError {
    int layer = 0;
    std::string tensor;  ///< "layer2.y", "layer2.dy", "layer2.dw"
    double relativeError = 0;
};

struct ShadowResult {
    std::vector<ShadowError> errors;
    double bf16Loss = 0;
};

/// Two executors beside the one that trains, one of its mode and one of bf16, each with room for every tensor. The
/// training's own steps, and their times, are left alone.
class Shadow {
public:
    /// Throws Error when the machine cannot hold them.
    Shadow(const plan::StepPlan& trained, int threads);

    /// What the next step of `training` will compute, in both; call it before that step.
    [[nodiscard]] ShadowResult compare(const cpu::CpuExecutor& training);

private:
    cpu::CpuExecutor m_fp8, m_bf16;
};

}  // namespace fp8scope::worker
