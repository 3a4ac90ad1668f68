// SPDX-License-Identifier: Apache-2.0
// The update of a weight also writes next step's fp8 weight and its transpose: the bf16 weight need not be read again.
// Only delayed scales are known by then, once the update of the scales comes before that of the weights; the amax that
// the pass finds is staged for the update after. The fp8 weights so live from step to step.
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

#include <algorithm>

namespace fp8scope::plan {
namespace {

class OptimizerCast {
public:
    explicit OptimizerCast(StepPlan& plan) : m_plan(plan), m_flow(plan), m_erased(plan.ops.size(), false) {}

    void run()
    {
        for (std::size_t i = 0; i < m_plan.ops.size(); ++i) {
            const Op& op = m_plan.ops[i];
            const bool cast = op.kind == OpKind::Cast || op.kind == OpKind::CastTranspose;
            if (cast && m_plan.tensor(op.inputs[0]).cls == TensorClass::Weight)
                moveIntoUpdate(i);
        }
        eraseOps(m_plan, m_erased);
        updateScalesFirst();
    }

private:
    void moveIntoUpdate(std::size_t cast)
    {
        const Op& op = m_plan.ops[cast];
        Op& update = m_plan.ops[static_cast<std::size_t>(m_flow.writer(op.inputs[0]))];
        const TensorId amax = m_plan.quantized[static_cast<std::size_t>(op.quantized)].amax;
        const TensorId transposed = op.kind == OpKind::CastTranspose ? op.outputs[1] : TensorId::none();
        update.kind = OpKind::OptimizerCast;
        update.name += "_cast";
        update.outputs.insert(update.outputs.end(), {op.outputs[0], transposed, amax});
        update.fp8Type = op.fp8Type;
        update.quantized = op.quantized;
        for (const TensorId kept : {op.outputs[0], transposed}) {
            if (kept.valid())
                m_plan.tensors[kept.value].persistent = true;
        }
        m_erased[cast] = true;
        eraseSeparateAmax(op.inputs[0]);
    }

    /// Of a weight that is cast without a transpose, whose amax has a pass of its own.
    void eraseSeparateAmax(TensorId weight)
    {
        for (const int reader : m_flow.readers(weight)) {
            if (m_plan.ops[static_cast<std::size_t>(reader)].kind == OpKind::Amax)
                m_erased[static_cast<std::size_t>(reader)] = true;
        }
    }

    void updateScalesFirst()
    {
        const auto scales = std::find_if(m_plan.ops.begin(), m_plan.ops.end(),
                                         [](const Op& op) { return op.kind == OpKind::DelayedScaleUpdate; });
        const auto weights =
            std::find_if(m_plan.ops.begin(), scales, [](const Op& op) { return op.phase == Phase::Optimizer; });
        if (scales != m_plan.ops.end())
            std::rotate(weights, scales, scales + 1);
    }

    StepPlan& m_plan;
    Dataflow m_flow;
    std::vector<bool> m_erased;
};

}  // namespace

StepPlan fuseOptimizerCast(StepPlan plan)
{
    OptimizerCast(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
