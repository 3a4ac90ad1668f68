// SPDX-License-Identifier: Apache-2.0
// GEMM, BiasAdd -> GEMM with a bias epilogue: the sum happens in the GEMM's fp32 accumulators, before the only
// rounding.
#include "engine/plan/gemm_calls.h"
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

namespace fp8scope::plan {

StepPlan fuseBiasEpilogue(StepPlan plan)
{
    const Dataflow flow(plan);
    std::vector<bool> erased(plan.ops.size(), false);
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        if (plan.ops[i].kind != OpKind::BiasAdd)
            continue;
        const int producer = flow.writer(plan.ops[i].inputs[0]);
        if (producer < 0 || plan.ops[static_cast<std::size_t>(producer)].kind != OpKind::Gemm)
            continue;
        Op& gemm = plan.ops[static_cast<std::size_t>(producer)];
        gemm.gemm->epilogue = Epilogue::Bias;
        gemm.gemm->bias = plan.ops[i].inputs[1];
        gemm.inputs = gemmInputs(*gemm.gemm);
        erased[i] = true;
    }
    eraseOps(plan, erased);
    return plan;
}

}  // namespace fp8scope::plan
