// SPDX-License-Identifier: Apache-2.0
// Fusion as rewriting: each pass takes a plan and gives one with fewer kernels and the same results. One file a pass.
// A pass works on ops and tensors only; derived facts and memory are filled in after the last one.
#pragma once

#include "engine/plan/step_plan.h"

namespace fp8scope::plan {

/// GEMM, BiasAdd -> GEMM with a bias epilogue. (The sum is rounded once instead of twice.)
[[nodiscard]] StepPlan fuseBiasEpilogue(StepPlan);

/// Abs, MaxReduce -> Amax; the scalar chain and the reciprocal -> ScaleFromAmax; ToF32, MulScale, Clamp, ToFp8 -> Cast.
/// mxfp8: BlockCast, ScaleLayout -> BlockCast that writes the layout.
[[nodiscard]] StepPlan fuseCastChain(StepPlan);

/// Cast and Transpose -> CastTranspose at the tensor's first cast of the step; later casts of the tensor use its
/// results. With the delayed recipe the pass finds the amax as well. Where the transpose has scales of its own, one
/// kernel makes both from the tensor. Needs fuseCastChain, but for recipe blockwise.
[[nodiscard]] StepPlan fuseCastTranspose(StepPlan);

/// BiasGrad of a dy that is cast with transpose -> CastTransposeDbias. Needs fuseCastTranspose.
[[nodiscard]] StepPlan fuseDbiasCastTranspose(StepPlan);

/// GEMM, RescaleOutput -> GEMM with scales for its rows and columns: recipe rowwise.
[[nodiscard]] StepPlan fuseScaleEpilogue(StepPlan);

/// Scales of tensors or rows: ActForward, Amax -> ActAmax (needs fuseCastChain). Of blocks: ActForward, BlockCast ->
/// ActBlockCast, and the bf16 activation is not kept (needs fuseCastTranspose). Delayed: ActForward, CastTranspose ->
/// ActCastTranspose, and the bf16 activation is not kept (needs fuseCastTranspose).
[[nodiscard]] StepPlan fuseActCast(StepPlan);

/// Micro-batches after the first use its casts of the weights, scales included. The first pass: it relies on
/// micro-batches being copies of the first.
[[nodiscard]] StepPlan fuseWeightCache(StepPlan);

/// Tensorwise: ActBackward, Amax, bias gradient -> ActBackwardAmax. Delayed: ActBackward, CastTransposeDbias ->
/// ActBackwardCastTranspose, and the bf16 gradient is not kept. Needs fuseDbiasCastTranspose.
[[nodiscard]] StepPlan fuseDactDbiasCastTranspose(StepPlan);

/// Delayed: OptimizerStep and the weight's cast -> OptimizerCast, after the update of the scales. The fp8 weights are
/// persistent from then on; an executor casts the initial ones. Needs fuseCastTranspose.
[[nodiscard]] StepPlan fuseOptimizerCast(StepPlan);

/// GEMM, ActForward -> GEMM with an activation epilogue, where cuBLASLt's rules for the auxiliary output allow it.
/// Needs fuseBiasEpilogue before it.
[[nodiscard]] StepPlan fuseActEpilogue(StepPlan);

/// All passes that plan.settings.fusions asks for, in order, then without the tensors that nothing uses any more.
[[nodiscard]] StepPlan applyFusions(StepPlan);

}  // namespace fp8scope::plan
