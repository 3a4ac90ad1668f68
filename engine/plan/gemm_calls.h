// SPDX-License-Identifier: Apache-2.0
// The three GEMMs of a linear layer y[B,N] = x[B,K] W[N,K]^T as cuBLASLt is told them (facts: NVIDIA cuBLAS
// documentation, "cublasLtMatmul"; table in resources/help/recipes.md). Internal to engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

namespace fp8scope::plan {

/// A GEMM's operand: a row-major tensor, and its dequantization factors when it is fp8 (none(): a factor of 1).
struct GemmOperand {
    TensorId tensor;
    TensorId scaleInv;
    ScaleMode mode = ScaleMode::Scalar32F;
};

/// Row-major D[m,n] = X[m,k] Y[n,k]^T: both operands contiguous along k, the one layout (TN) that fp8 has on Hopper.
[[nodiscard]] GemmCall gemmTn(const StepPlan&, GemmOperand x, GemmOperand y, TensorId d);
/// Row-major dX[B,K] = dY[B,N] W[N,K] (NN): 16-bit only.
[[nodiscard]] GemmCall gemmNn(const StepPlan&, GemmOperand dy, GemmOperand w, TensorId dx);
/// Row-major dW[N,K] = dY[B,N]^T X[B,K] (NT): 16-bit only.
[[nodiscard]] GemmCall gemmNt(const StepPlan&, GemmOperand dy, GemmOperand x, TensorId dw);

/// The tensors that the call reads, in the order in which a Gemm op lists them: A, B, [A's scale, B's scale], [bias].
[[nodiscard]] std::vector<TensorId> gemmInputs(const GemmCall&);

}  // namespace fp8scope::plan
