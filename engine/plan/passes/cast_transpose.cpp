// SPDX-License-Identifier: Apache-2.0
// One cast a tensor and step: the first one also writes the transpose that backward needs, and both are kept until
// used. A cast tensor does not change between its casts (weights change in the optimizer, after the last), so the amax,
// scale and fp8 values that are no longer computed again are bitwise those kept.
#include "engine/plan/passes.h"
#include "engine/plan/passes/cast_both_ways.h"
#include "engine/plan/passes/rewrite.h"

namespace fp8scope::plan {
namespace {

class CastTransposePass {
public:
    explicit CastTransposePass(StepPlan& plan)
        : m_plan(plan), m_flow(plan), m_erased(plan.ops.size(), false), m_replacement(plan.tensors.size())
    {}

    void run()
    {
        shareCasts();
        replaceInputs(m_plan, m_replacement);
        for (std::size_t i = 0; i < m_plan.ops.size(); ++i) {
            if (m_plan.ops[i].kind == OpKind::Transpose)
                foldTranspose(i);
        }
        eraseOps(m_plan, m_erased);
    }

private:
    void shareCasts()
    {
        std::vector<int> firstCast(m_plan.tensors.size(), -1);  // by source tensor
        for (std::size_t i = 0; i < m_plan.ops.size(); ++i) {
            if (m_plan.ops[i].kind != OpKind::Cast)
                continue;
            int& first = firstCast[m_plan.ops[i].inputs[0].value];
            if (first >= 0 && mayShare(m_plan.ops[static_cast<std::size_t>(first)], m_plan.ops[i]))
                shareCast(m_plan.ops[static_cast<std::size_t>(first)], i);
            else
                first = static_cast<int>(i);
        }
    }

    /// Weights are cast once a micro-batch (weight_cache goes further). With checkpointing, what the forward pass cast
    /// is not kept for backward, where it is cast again.
    [[nodiscard]] bool mayShare(const Op& first, const Op& later) const
    {
        if (first.microBatch != later.microBatch)
            return false;
        const bool weight = m_plan.tensor(first.inputs[0]).cls == TensorClass::Weight;
        const bool firstIsKept = m_plan.config.checkpoint == 0 || first.phase != Phase::Forward || first.recompute;
        return weight || firstIsKept;
    }

    void shareCast(const Op& first, std::size_t repeated)
    {
        const Op& cast = m_plan.ops[repeated];
        m_replacement[cast.outputs[0].value] = first.outputs[0];
        m_erased[repeated] = true;
        if (cast.inputs[1] == first.inputs[1])
            return;  // delayed: the same scale, no amax of its own
        const auto scale = static_cast<std::size_t>(m_flow.writer(cast.inputs[1]));
        const Op& firstScale = m_plan.ops[static_cast<std::size_t>(m_flow.writer(first.inputs[1]))];
        m_replacement[m_plan.ops[scale].outputs[1].value] = firstScale.outputs[1];
        m_erased[scale] = true;
        m_erased[static_cast<std::size_t>(m_flow.writer(m_plan.ops[scale].inputs[0]))] = true;
    }

    void foldTranspose(std::size_t transpose)
    {
        Op& cast = m_plan.ops[static_cast<std::size_t>(m_flow.writer(m_plan.ops[transpose].inputs[0]))];
        if (cast.kind != OpKind::Cast)
            return;
        cast.kind = OpKind::CastTranspose;
        cast.name = withVerb(cast.name, "cast_transpose");
        cast.outputs = {cast.outputs[0], m_plan.ops[transpose].outputs[0], foldedAmax(cast)};
        m_erased[transpose] = true;
    }

    /// Delayed: the amax is for later steps, so the same pass over the tensor can find it. none() for tensorwise, whose
    /// cast must wait for the amax.
    TensorId foldedAmax(const Op& cast)
    {
        if (m_plan.config.recipe.kind != RecipeKind::Delayed || cast.quantized < 0)
            return TensorId::none();
        const TensorId amax = m_plan.quantized[static_cast<std::size_t>(cast.quantized)].amax;
        for (const int reader : m_flow.readers(cast.inputs[0])) {
            const auto r = static_cast<std::size_t>(reader);
            const Op& op = m_plan.ops[r];
            if (op.kind != OpKind::Amax || op.outputs[0] != amax || op.microBatch != cast.microBatch)
                continue;
            m_erased[r] = true;
            return amax;
        }
        return TensorId::none();
    }

    StepPlan& m_plan;
    Dataflow m_flow;
    std::vector<bool> m_erased;
    std::vector<TensorId> m_replacement;
};

}  // namespace

StepPlan fuseCastTranspose(StepPlan plan)
{
    if (!scalesWholeTensors(plan.recipe.kind))
        return castBothWays(std::move(plan));
    CastTransposePass(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
