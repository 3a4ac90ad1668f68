// SPDX-License-Identifier: Apache-2.0
// Ops that run again on tensors of their own: what micro-batches and recomputation have in common. Internal to
// engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

#include <string>
#include <vector>

namespace fp8scope::plan {

/// Which tensor stands for which in repeated ops. Tensors without an entry stand for themselves.
class TensorCopies {
public:
    explicit TensorCopies(StepPlan& plan) : m_plan(plan), m_copies(plan.tensors.size()) {}

    /// Adds a tensor like `original`, of that name, to the plan, unless there is one already.
    void copy(TensorId original, std::string name);
    [[nodiscard]] TensorId of(TensorId original) const;
    [[nodiscard]] bool has(TensorId original) const { return m_copies[original.value].valid(); }

    /// Makes the op, or only what it reads, refer to the copies.
    void redirect(Op&) const;
    void redirectInputs(Op&) const;

private:
    StepPlan& m_plan;
    std::vector<TensorId> m_copies;  ///< by original; none(): itself
};

/// The step as `config.microBatches` parts, one after the other, before one update: forward and backward ops stand once
/// a part, named "mb0.", "mb1." and so on. Weight gradients accumulate in their GEMM (beta 1), bias gradients and the
/// loss in their kernels.
[[nodiscard]] StepPlan repeatForMicroBatches(StepPlan);

/// Activation checkpointing: of each block of `config.checkpoint` layers only the input is kept, and the forward ops
/// that backward needs run again before it, named "layerN.recompute.", casts included.
[[nodiscard]] StepPlan recomputeActivations(StepPlan);

}  // namespace fp8scope::plan
