// SPDX-License-Identifier: Apache-2.0
// What of a run's numerics its user must hear of without asking: saturation and underflow over the limits.
#pragma once

#include "collector/wire/records.h"
#include "engine/cpu/cpu_executor.h"
#include "engine/plan/step_plan.h"

#include <cstdint>
#include <vector>

namespace fp8scope::worker {

inline constexpr double kSaturationLimit = 0.001;  ///< of a tensor's elements in one step
inline constexpr double kUnderflowLimit = 0.2;

/// Watches every step; steps of the warm-up do not count, as delayed scales have no history then.
class NumericsWatch {
public:
    explicit NumericsWatch(const plan::StepPlan& plan) : m_plan(plan) {}

    void see(const cpu::StepResult&, std::uint32_t step, bool warmup);
    /// One diagnostic each for saturation and underflow, if a limit was passed: how often, and the worst.
    [[nodiscard]] std::vector<wire::Diagnostic> diagnostics() const;

private:
    struct Excess {
        std::uint64_t count = 0;  ///< of tensors and steps
        double worst = 0;
        std::size_t tensor = 0;
        std::uint32_t step = 0;
    };
    static void note(Excess&, double share, double limit, std::size_t tensor, std::uint32_t step);
    [[nodiscard]] wire::Diagnostic diagnostic(const Excess&, const char* name, const char* what, double limit) const;

    const plan::StepPlan& m_plan;
    Excess m_saturation, m_underflow;
};

}  // namespace fp8scope::worker
