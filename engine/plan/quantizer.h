// SPDX-License-Identifier: Apache-2.0
// How a recipe makes the GEMMs of an fp8 layer: the kernels that quantize the operands, then the GEMM itself.
// One implementation a family of recipes, in recipes/. Internal to engine/plan.
#pragma once

#include "engine/plan/plan_writer.h"

#include <memory>

namespace fp8scope::plan {

/// One of the three GEMMs of a linear layer, row-major.
struct LinearGemm {
    int layer = 0;
    Phase phase = Phase::Forward;  ///< Forward, Dgrad or Wgrad
    TensorId left, right;          ///< forward: x, w; dgrad: dy, w; wgrad: dy, x; all bf16
    TensorId result;               ///< y, dx, dw
};

class Quantizer {
public:
    virtual ~Quantizer() = default;

    /// Appends what quantizes the operands, and the GEMM.
    virtual void emitGemm(const LinearGemm&) = 0;
    /// Appends what the recipe does once a step, after everything else.
    virtual void finishStep() {}
};

/// The quantizer of the plan's recipe. Registers x, w and dy of every fp8 layer in StepPlan::quantized.
[[nodiscard]] std::unique_ptr<Quantizer> makeQuantizer(PlanWriter&);

/// "fwd", "dgrad", "wgrad": as in op and tensor names.
[[nodiscard]] std::string_view phaseWord(Phase);

}  // namespace fp8scope::plan
