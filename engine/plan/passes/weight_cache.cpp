// SPDX-License-Identifier: Apache-2.0
// What a later micro-batch would compute from weights and scales alone, the first one has computed: those ops go, and
// their readers use the first one's results. Weights change only in the update, so the results are bitwise the same.
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

#include <algorithm>

namespace fp8scope::plan {
namespace {

class WeightCache {
public:
    explicit WeightCache(StepPlan& plan)
        : m_plan(plan), m_erased(plan.ops.size(), false), m_replacement(plan.tensors.size())
    {}

    /// Each micro-batch repeats the first one's ops in their order.
    void run()
    {
        const auto partOps = static_cast<std::size_t>(
            std::count_if(m_plan.ops.begin(), m_plan.ops.end(), [](const Op& op) { return isOfPart(op, 0); }));
        for (std::size_t i = partOps; i < m_plan.ops.size() && isOfPart(m_plan.ops[i], m_plan.ops[i].microBatch); ++i) {
            if (dependsOnWeightsOnly(m_plan.ops[i]))
                replace(i, m_plan.ops[i % partOps]);
        }
        replaceInputs(m_plan, m_replacement);
        eraseOps(m_plan, m_erased);
    }

private:
    static bool isOfPart(const Op& op, int part)
    {
        return op.microBatch == part && op.phase != Phase::Optimizer && op.kind != OpKind::DelayedScaleUpdate;
    }

    [[nodiscard]] bool dependsOnWeightsOnly(const Op& op) const
    {
        return !op.inputs.empty() && std::all_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
            return m_plan.tensor(id).persistent || m_replacement[id.value].valid();
        });
    }

    void replace(std::size_t repeated, const Op& first)
    {
        const Op& op = m_plan.ops[repeated];
        for (std::size_t o = 0; o < op.outputs.size(); ++o) {
            if (op.outputs[o].valid() && !m_plan.tensor(op.outputs[o]).persistent)
                m_replacement[op.outputs[o].value] = first.outputs[o];
        }
        m_erased[repeated] = true;
    }

    StepPlan& m_plan;
    std::vector<bool> m_erased;
    std::vector<TensorId> m_replacement;
};

}  // namespace

StepPlan fuseWeightCache(StepPlan plan)
{
    if (plan.config.microBatches > 1)
        WeightCache(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
