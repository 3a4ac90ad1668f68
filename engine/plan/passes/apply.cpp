// SPDX-License-Identifier: Apache-2.0
// The order of the passes: each works on what the earlier ones made. The one that removes most ops goes first, for
// speed.
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

#include <array>
#include <utility>

namespace fp8scope::plan {

StepPlan applyFusions(StepPlan plan)
{
    using Pass = StepPlan (*)(StepPlan);
    constexpr std::array<std::pair<bool Fusions::*, Pass>, 10> kPasses{{
        {&Fusions::weightCache, fuseWeightCache},
        {&Fusions::castChain, fuseCastChain},
        {&Fusions::castTranspose, fuseCastTranspose},
        {&Fusions::dbiasCastTranspose, fuseDbiasCastTranspose},
        {&Fusions::actCast, fuseActCast},
        {&Fusions::scaleEpilogue, fuseScaleEpilogue},
        {&Fusions::dactDbiasCastTranspose, fuseDactDbiasCastTranspose},
        {&Fusions::optimizerCast, fuseOptimizerCast},
        {&Fusions::biasEpilogue, fuseBiasEpilogue},
        {&Fusions::actEpilogue, fuseActEpilogue},
    }};
    for (const auto& [wanted, pass] : kPasses) {
        if (plan.settings.fusions.*wanted)
            plan = pass(std::move(plan));
    }
    eraseUnusedTensors(plan);
    return plan;
}

}  // namespace fp8scope::plan
