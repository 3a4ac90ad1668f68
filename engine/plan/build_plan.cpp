// SPDX-License-Identifier: Apache-2.0
// From configuration to a checked, placed plan.
#include "collector/trace/error.h"
#include "engine/plan/config_keys.h"
#include "engine/plan/memory_planner.h"
#include "engine/plan/op_facts.h"
#include "engine/plan/passes.h"
#include "engine/plan/repeated_ops.h"
#include "engine/plan/unfused.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::plan {
namespace {

/// A configuration may be made by code, past the checks of its keys.
void refuseUnplannable(const MlpConfig& config)
{
    const bool badWidth = std::any_of(config.widths.begin(), config.widths.end(), [](std::int64_t w) { return w < 1; });
    if (config.widths.size() < 2 || badWidth)
        throw Error("a plan needs at least two widths, each 1 or more", "widths", "");
    if (config.batch < 1)
        throw Error(fmt::format("a plan needs a batch of 1 or more, not {}", config.batch), "batch", "");
    if (config.microBatches < 1)
        throw Error(fmt::format("a batch has at least one part, not {}", config.microBatches), "micro_batches", "");
    if (const auto broken = brokenRelation(config))
        throw Error(fmt::format("key '{}' {}", broken->key, broken->rule), broken->key, "");
}

void refuseIllegalGemms(const StepPlan& plan)
{
    for (const Op& op : plan.ops) {
        if (!op.gemm)
            continue;
        if (const auto why = refusal(*op.gemm, targetOf(plan.recipe.kind)))
            throw Error(fmt::format("the plan has a GEMM that cuBLASLt would refuse: {}", *why), op.name,
                        "this is a mistake of fp8scope, please report it with the configuration");
    }
}

}  // namespace

StepPlan buildPlan(const MlpConfig& config, std::string_view mode, const PlanOptions& options)
{
    return buildPlan(config, settingsFor(config, mode), options);
}

StepPlan buildPlan(const MlpConfig& config, const ModeSettings& settings, const PlanOptions& options)
{
    refuseUnplannable(config);
    StepPlan plan = applyFusions(repeatForMicroBatches(recomputeActivations(buildUnfused(config, settings))));
    deriveOpFacts(plan);
    refuseIllegalGemms(plan);
    planMemory(plan, options);
    return plan;
}

}  // namespace fp8scope::plan
