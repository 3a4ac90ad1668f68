// SPDX-License-Identifier: Apache-2.0
// GEMM with unit scales, RescaleOutput -> GEMM that applies the factors of its rows and columns to its fp32 sums, which
// are then rounded once instead of twice.
#include "engine/plan/gemm_calls.h"
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

namespace fp8scope::plan {

StepPlan fuseScaleEpilogue(StepPlan plan)
{
    const Dataflow flow(plan);
    std::vector<bool> erased(plan.ops.size(), false);
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        const Op& rescale = plan.ops[i];
        if (rescale.kind != OpKind::RescaleOutput)
            continue;
        Op& gemm = plan.ops[static_cast<std::size_t>(flow.writer(rescale.inputs[0]))];
        gemm.gemm->bScale = rescale.inputs[1];  // the rows of a row-major result are cuBLASLt's n
        gemm.gemm->aScale = rescale.inputs[2];
        gemm.gemm->aScaleMode = gemm.gemm->bScaleMode = ScaleMode::OuterVec32F;
        gemm.gemm->dTensor = rescale.outputs[0];
        gemm.gemm->beta = rescale.accumulate ? 1.0F : 0.0F;
        gemm.inputs = gemmInputs(*gemm.gemm);
        gemm.outputs = rescale.outputs;
        erased[i] = true;
    }
    eraseOps(plan, erased);
    return plan;
}

}  // namespace fp8scope::plan
