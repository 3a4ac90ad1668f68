// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/op_context.h"

#include <cstdlib>

namespace fp8scope::cpu {

OpFunction opFunction(plan::OpKind kind)
{
    using enum plan::OpKind;
    switch (kind) {
    case LoadBatch: return loadBatch;
    case Gemm: return gemm;
    case Abs: return absolute;
    case MaxReduce: return maxReduce;
    case ScalarToF64: return scalarToF64;
    case ScalarClampMin: return scalarClampMin;
    case ScalarReciprocal: return scalarReciprocal;
    case ScalarMul: return scalarMul;
    case ScalarToF32: return scalarToF32;
    case ScalarLog2: return scalarLog2;
    case ScalarFloor: return scalarFloor;
    case ScalarExp2: return scalarExp2;
    case ToF32: return toF32;
    case MulScale: return mulScale;
    case Clamp: return clamp;
    case ToFp8: return toFp8;
    case Amax: return amax;
    case ScaleFromAmax: return scaleFromAmax;
    case Cast: return cast;
    case Transpose: return transpose;
    case CastTranspose: return castTranspose;
    case CastTransposeDbias: return castTransposeDbias;
    case BlockCast: return blockCast;
    case ScaleLayout: return scaleLayout;
    case RescaleOutput: return rescaleOutput;
    case BiasAdd: return biasAdd;
    case BiasGrad: return biasGrad;
    case ActForward: return activationForward;
    case ActAmax: return activationAmax;
    case ActCastTranspose: return activationCastTranspose;
    case ActBlockCast: return activationBlockCast;
    case ActBackward: return activationBackward;
    case ActBackwardAmax: return activationBackwardAmax;
    case ActBackwardCastTranspose: return activationBackwardCastTranspose;
    case Loss: return loss;
    case OptimizerStep: return optimizerStep;
    case OptimizerCast: return optimizerCast;
    case DelayedScaleUpdate: return delayedScaleUpdate;
    }
    std::abort();  // the compiler warns when a kind is missing above
}

}  // namespace fp8scope::cpu
