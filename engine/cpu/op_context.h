// SPDX-License-Identifier: Apache-2.0
// What an op of a plan is executed with, and the table from kinds of ops to the functions that execute them.
#pragma once

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu_executor.h"
#include "engine/cpu/dataset.h"
#include "engine/cpu/gemm.h"
#include "engine/kernels/cpu_kernels.h"
#include "engine/plan/step_plan.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace fp8scope::cpu {

struct OpContext {
    const plan::StepPlan* plan = nullptr;
    Arena* arena = nullptr;
    const kernels::CpuKernels* kernels = nullptr;
    GemmRunner* gemms = nullptr;
    std::vector<GemmHandle> gemmOfOp;  ///< by op index; meaningful for GEMMs
    const Dataset* dataset = nullptr;
    kernels::Activation activation;
    std::vector<float> columnPartials;  ///< enough for the largest column sum of the plan
    std::vector<float> columnSums;      ///< enough for one row of them
    std::vector<double> rowLoss;        ///< one a row of the batch
    std::vector<QuantizationStat> quantized;
    /// By index into `quantized`: weights that the update has cast for the next step, in whose statistics they belong.
    std::vector<std::pair<std::size_t, QuantizationStat>> castAhead;
    std::int64_t step = 0;  ///< steps done before this one

    [[nodiscard]] const plan::Tensor& tensor(plan::TensorId id) const { return plan->tensor(id); }
};

using OpFunction = void (*)(OpContext&, const plan::Op&);

/// The function for a kind; every kind has one.
[[nodiscard]] OpFunction opFunction(plan::OpKind);

/// Elements of a tensor that are worth a thread of their own: below it, starting a thread costs more than it saves.
inline constexpr std::int64_t kElementGrain = 1 << 14;

// train_ops.cpp
void loadBatch(OpContext&, const plan::Op&);
void gemm(OpContext&, const plan::Op&);
void biasAdd(OpContext&, const plan::Op&);
void biasGrad(OpContext&, const plan::Op&);
void activationForward(OpContext&, const plan::Op&);
void loss(OpContext&, const plan::Op&);

// activation_backward_ops.cpp
void activationBackward(OpContext&, const plan::Op&);
void activationBackwardAmax(OpContext&, const plan::Op&);
void activationBackwardCastTranspose(OpContext&, const plan::Op&);

// optimizer_op.cpp
void optimizerStep(OpContext&, const plan::Op&);
void optimizerCast(OpContext&, const plan::Op&);
/// What the updates would have left before the first step: the initial weights cast.
void castInitialWeights(OpContext&);

// scale_ops.cpp: one number, or one for each row, column or tensor
void scalarToF64(OpContext&, const plan::Op&);
void scalarClampMin(OpContext&, const plan::Op&);
void scalarReciprocal(OpContext&, const plan::Op&);
void scalarMul(OpContext&, const plan::Op&);
void scalarToF32(OpContext&, const plan::Op&);
void scalarLog2(OpContext&, const plan::Op&);
void scalarFloor(OpContext&, const plan::Op&);
void scalarExp2(OpContext&, const plan::Op&);
void scaleFromAmax(OpContext&, const plan::Op&);
void delayedScaleUpdate(OpContext&, const plan::Op&);

// eager_cast_ops.cpp: the quantization chain of eager PyTorch, one pass an op
void absolute(OpContext&, const plan::Op&);
void toF32(OpContext&, const plan::Op&);
void clamp(OpContext&, const plan::Op&);
void toFp8(OpContext&, const plan::Op&);

// amax_ops.cpp
void maxReduce(OpContext&, const plan::Op&);
void amax(OpContext&, const plan::Op&);
void activationAmax(OpContext&, const plan::Op&);

// row_scale_ops.cpp: scales for each row or column
void mulScale(OpContext&, const plan::Op&);
void rescaleOutput(OpContext&, const plan::Op&);
/// A cast whose scale is not of the whole tensor.
void castRows(OpContext&, const plan::Op&);
/// A cast with transpose whose transpose has scales of its own. Partial column sums where not null.
void castBothWays(OpContext&, const plan::Op&, float* columnPartials);

// block_cast_ops.cpp: scales for each block
void blockCast(OpContext&, const plan::Op&);
void activationBlockCast(OpContext&, const plan::Op&);
void scaleLayout(OpContext&, const plan::Op&);

// fused_cast_ops.cpp
void cast(OpContext&, const plan::Op&);
void transpose(OpContext&, const plan::Op&);
void castTranspose(OpContext&, const plan::Op&);
void castTransposeDbias(OpContext&, const plan::Op&);
void activationCastTranspose(OpContext&, const plan::Op&);

/// Writes the sums of the first `rows` x `cols` partial column sums of ctx.columnPartials to the tensor, or adds them
/// to it.
void reduceColumnPartials(OpContext&, std::int64_t rows, std::int64_t cols, plan::TensorId to, bool accumulate);

/// Stores an amax; a persistent tensor collects the largest until the delayed update clears it.
void storeAmax(OpContext&, plan::TensorId, float amax);

/// Notes amax and scale of the op's quantized tensor as they are now, with its counters: of several, the largest amax
/// and the smallest scale. Does nothing for other ops.
void noteQuantization(OpContext&, const plan::Op&, const CastCounts&);
/// ... of a block cast, whose amax and smallest scale stand in no tensor.
void noteBlockQuantization(OpContext&, const plan::Op&, const kernels::CastResult&, float scale);

}  // namespace fp8scope::cpu
