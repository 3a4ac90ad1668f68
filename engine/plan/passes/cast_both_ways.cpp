// SPDX-License-Identifier: Apache-2.0
// Scales of rows and of blocks belong to an orientation, so both are quantized from bf16 and neither is the other's
// transpose. The kernel of the first cast makes both; bitwise the same, for a tensor does not change between its casts.
#include "engine/plan/passes/cast_both_ways.h"

#include "engine/plan/passes/rewrite.h"

namespace fp8scope::plan {
namespace {

class CastBothWays {
public:
    explicit CastBothWays(StepPlan& plan) : m_plan(plan), m_flow(plan), m_erased(plan.ops.size(), false) {}

    void run()
    {
        const OpKind kind = scalesBlocks(m_plan.recipe.kind) ? OpKind::BlockCast : OpKind::Cast;
        std::vector<int> upright(m_plan.tensors.size(), -1);  // by source: its cast as it is
        for (std::size_t i = 0; i < m_plan.ops.size(); ++i) {
            const Op& op = m_plan.ops[i];
            if (op.kind != kind)
                continue;
            int& first = upright[op.inputs[0].value];
            if (isUpright(op))
                first = static_cast<int>(i);
            else if (first >= 0)
                join(m_plan.ops[static_cast<std::size_t>(first)], i);
        }
        eraseOps(m_plan, m_erased);
    }

private:
    [[nodiscard]] bool isUpright(const Op& cast) const
    {
        if (cast.kind == OpKind::BlockCast)
            return cast.outputs[0].valid();
        return m_flow.soleReader(m_plan, cast.outputs[0], OpKind::Transpose) < 0;
    }

    Op& writerOf(TensorId id) { return m_plan.ops[static_cast<std::size_t>(m_flow.writer(id))]; }
    void erase(TensorId written) { m_erased[static_cast<std::size_t>(m_flow.writer(written))] = true; }

    /// `first` takes over what the op at `other` does. A cast that already does both stays as it is.
    void join(Op& first, std::size_t other)
    {
        if (first.kind == OpKind::BlockCast)
            joinBlocks(first, other);
        else if (first.kind == OpKind::Cast)
            joinRowsAndColumns(first, other);
    }

    void joinBlocks(Op& first, std::size_t other)
    {
        if (first.outputs[2].valid())
            return;
        first.outputs[2] = m_plan.ops[other].outputs[2];
        first.outputs[3] = m_plan.ops[other].outputs[3];
        first.name = withVerb(first.name, "cast_both_ways");
        m_erased[other] = true;
    }

    /// One pass finds both amaxes, one kernel makes both scales, one pass casts and transposes.
    void joinRowsAndColumns(Op& first, std::size_t other)
    {
        const Op& cast = m_plan.ops[other];
        const int transpose = m_flow.soleReader(m_plan, cast.outputs[0], OpKind::Transpose);
        const TensorId otherScale = cast.inputs[1];
        Op& scale = writerOf(first.inputs[1]);
        Op& amax = writerOf(scale.inputs[0]);
        const Op& scaleOfOther = writerOf(otherScale);
        const TensorId otherAmax = scaleOfOther.inputs[0];
        amax.outputs.push_back(otherAmax);
        scale.inputs.push_back(otherAmax);
        scale.outputs.insert(scale.outputs.end(), scaleOfOther.outputs.begin(), scaleOfOther.outputs.end());
        first.kind = OpKind::CastTranspose;
        first.name = withVerb(first.name, "cast_transpose");
        first.inputs.push_back(otherScale);
        first.outputs = {first.outputs[0], m_plan.ops[static_cast<std::size_t>(transpose)].outputs[0],
                         TensorId::none()};
        erase(otherScale);
        erase(otherAmax);
        m_erased[other] = m_erased[static_cast<std::size_t>(transpose)] = true;
    }

    StepPlan& m_plan;
    Dataflow m_flow;
    std::vector<bool> m_erased;
};

}  // namespace

StepPlan castBothWays(StepPlan plan)
{
    CastBothWays(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
