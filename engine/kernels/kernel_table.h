// SPDX-License-Identifier: Apache-2.0
// Fills the table of kernels for one vector width. Included once by each level_*.cpp.
#pragma once

#include "engine/kernels/activation_backward.h"
#include "engine/kernels/bias.h"
#include "engine/kernels/block_cast.h"
#include "engine/kernels/cast_transpose.h"
#include "engine/kernels/decode.h"
#include "engine/kernels/loss.h"
#include "engine/kernels/optimizer.h"

namespace fp8scope::kernels {

template <int B>
[[nodiscard]] constexpr CpuKernels makeKernels(VectorLevel level)
{
    return {
        .level = level,
        .abs = absKernel<B>,
        .maxReduce = maxReduceKernel<B>,
        .toF32 = toF32Kernel<B>,
        .mulScale = mulScaleKernel<B>,
        .clamp = clampKernel<B>,
        .toFp8 = toFp8Kernel<B>,
        .amax = amaxKernel<B>,
        .cast = castKernel<B>,
        .transpose = transposeKernel<B>,
        .castTranspose = castTransposeKernel<B>,
        .columnAmax = columnAmaxKernel<B>,
        .mulScales = mulScalesKernel<B>,
        .castColumns = castColumnsKernel<B>,
        .castColumnsTransposed = castColumnsTransposedKernel<B>,
        .rescale = rescaleKernel<B>,
        .blockCast = blockCastKernel<B>,
        .biasAdd = biasAddKernel<B>,
        .biasGrad = biasGradKernel<B>,
        .reduceColumns = reduceColumnsKernel<B>,
        .actForward = actForwardKernel<B>,
        .actAmax = actAmaxKernel<B>,
        .actCastTranspose = actCastTransposeKernel<B>,
        .actBackward = actBackwardKernel<B>,
        .actBackwardCast = actBackwardCastKernel<B>,
        .reluMask = reluMaskKernel<B>,
        .squaredError = squaredErrorKernel<B, float>,
        .squaredErrorBf16 = squaredErrorKernel<B, Bf16>,
        .softmaxCrossEntropy = softmaxCrossEntropyKernel<B>,
        .sgd = sgdKernel<B>,
        .adam = adamKernel<B>,
        .decodeFp8 = decodeFp8Kernel<B>,
        .decodeFp8ToBf16 = decodeFp8ToBf16Kernel<B>,
        .decodeScaled = decodeScaledKernel<B, float>,
        .decodeScaledToBf16 = decodeScaledKernel<B, Bf16>,
        .encodeBf16 = encodeBf16Kernel<B>,
        .encodeBf16Bias = encodeBf16BiasKernel<B>,
    };
}

}  // namespace fp8scope::kernels
