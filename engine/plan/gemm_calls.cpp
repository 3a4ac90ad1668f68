// SPDX-License-Identifier: Apache-2.0
// cuBLASLt is column-major, so the second row-major operand becomes its A (the m side) and the first its B (the n
// side).
#include "engine/plan/gemm_calls.h"

namespace fp8scope::plan {
namespace {

MatrixLayout columnMajor(const Tensor& tensor) { return {tensor.type, tensor.cols, tensor.rows, tensor.cols}; }

GemmCall call(const StepPlan& plan, GemmOperand a, bool transA, GemmOperand b, bool transB, TensorId d)
{
    GemmCall gemm;
    gemm.transA = transA;
    gemm.transB = transB;
    gemm.a = columnMajor(plan.tensor(a.tensor));
    gemm.b = columnMajor(plan.tensor(b.tensor));
    gemm.d = columnMajor(plan.tensor(d));
    gemm.aTensor = a.tensor;
    gemm.bTensor = b.tensor;
    gemm.dTensor = d;
    gemm.aScale = a.scaleInv;
    gemm.bScale = b.scaleInv;
    gemm.aScaleMode = a.scaleInv.valid() ? a.mode : ScaleMode::None;
    gemm.bScaleMode = b.scaleInv.valid() ? b.mode : ScaleMode::None;
    return gemm;
}

}  // namespace

GemmCall gemmTn(const StepPlan& plan, GemmOperand x, GemmOperand y, TensorId d)
{
    return call(plan, y, true, x, false, d);
}
GemmCall gemmNn(const StepPlan& plan, GemmOperand dy, GemmOperand w, TensorId dx)
{
    return call(plan, w, false, dy, false, dx);
}
GemmCall gemmNt(const StepPlan& plan, GemmOperand dy, GemmOperand x, TensorId dw)
{
    return call(plan, x, false, dy, true, dw);
}

std::vector<TensorId> gemmInputs(const GemmCall& gemm)
{
    std::vector<TensorId> inputs{gemm.aTensor, gemm.bTensor};
    for (const TensorId optional : {gemm.aScale, gemm.bScale, gemm.bias}) {
        if (optional.valid())
            inputs.push_back(optional);
    }
    return inputs;
}

}  // namespace fp8scope::plan
