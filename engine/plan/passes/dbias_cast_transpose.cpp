// SPDX-License-Identifier: Apache-2.0
// BiasGrad of a dy that is cast with transpose -> part of that pass, which reads every dy anyway.
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

namespace fp8scope::plan {

StepPlan fuseDbiasCastTranspose(StepPlan plan)
{
    const Dataflow flow(plan);
    std::vector<bool> erased(plan.ops.size(), false);
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        if (plan.ops[i].kind != OpKind::BiasGrad)
            continue;
        for (const int reader : flow.readers(plan.ops[i].inputs[0])) {
            Op& cast = plan.ops[static_cast<std::size_t>(reader)];
            const bool ofBlocks = cast.kind == OpKind::BlockCast && cast.outputs[2].valid();
            if (cast.kind != OpKind::CastTranspose && !ofBlocks)
                continue;
            if (!ofBlocks)
                cast.kind = OpKind::CastTransposeDbias;
            cast.name = withVerb(cast.name, "cast_transpose_dbias");
            cast.outputs.push_back(plan.ops[i].outputs[0]);
            cast.accumulate = plan.ops[i].accumulate;
            erased[i] = true;
            break;
        }
    }
    eraseOps(plan, erased);
    return plan;
}

}  // namespace fp8scope::plan
