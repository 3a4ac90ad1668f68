// SPDX-License-Identifier: Apache-2.0
// The activation also starts the quantization of its result. Scales of a tensor, row or column need its whole amax
// first, so only that is fused; delayed scales are known before and a block's amax is at hand, so there cast and
// transpose are fused as well and the bf16 result is never written.
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

namespace fp8scope::plan {
namespace {

class ActCast {
public:
    explicit ActCast(StepPlan& plan) : m_plan(plan), m_flow(plan), m_erased(plan.ops.size(), false) {}

    void run()
    {
        const RecipeKind recipe = m_plan.recipe.kind;
        for (Op& op : m_plan.ops) {
            if (op.kind != OpKind::ActForward)
                continue;
            if (recipe == RecipeKind::Delayed)
                fuseCastTranspose(op);
            else if (scalesBlocks(recipe))
                fuseBlockCast(op);
            else
                fuseAmax(op);
        }
        eraseOps(m_plan, m_erased);
    }

private:
    void fuseAmax(Op& activation)
    {
        for (const int reader : m_flow.readers(activation.outputs[0])) {
            const auto r = static_cast<std::size_t>(reader);
            if (m_plan.ops[r].kind != OpKind::Amax)
                continue;
            activation.kind = OpKind::ActAmax;
            activation.name = siblingName(activation, "act_amax");
            const std::vector<TensorId>& amaxes = m_plan.ops[r].outputs;
            activation.outputs.insert(activation.outputs.end(), amaxes.begin(), amaxes.end());
            m_erased[r] = true;
            return;
        }
    }

    void fuseCastTranspose(Op& activation)
    {
        const int reader = m_flow.soleReader(m_plan, activation.outputs[0], OpKind::CastTranspose);
        if (reader < 0)
            return;  // a bf16 layer follows
        const Op& cast = m_plan.ops[static_cast<std::size_t>(reader)];
        activation.kind = OpKind::ActCastTranspose;
        activation.name = siblingName(activation, "act_cast_transpose");
        activation.inputs.push_back(cast.inputs[1]);
        activation.outputs = cast.outputs;
        activation.fp8Type = cast.fp8Type;
        activation.quantized = cast.quantized;
        if (cast.quantized >= 0)
            m_plan.quantized[static_cast<std::size_t>(cast.quantized)].source = TensorId::none();
        m_erased[static_cast<std::size_t>(reader)] = true;
    }

    void fuseBlockCast(Op& activation)
    {
        const int reader = m_flow.soleReader(m_plan, activation.outputs[0], OpKind::BlockCast);
        if (reader < 0)
            return;  // a bf16 layer follows
        const Op& cast = m_plan.ops[static_cast<std::size_t>(reader)];
        if (!cast.outputs[0].valid() || !cast.outputs[2].valid())
            return;
        activation.kind = OpKind::ActBlockCast;
        activation.name = siblingName(activation, "act_cast_both_ways");
        activation.outputs = cast.outputs;
        activation.fp8Type = cast.fp8Type;
        activation.scaleMode = cast.scaleMode;
        activation.swizzledScales = cast.swizzledScales;
        activation.quantized = cast.quantized;
        if (cast.quantized >= 0)
            m_plan.quantized[static_cast<std::size_t>(cast.quantized)].source = TensorId::none();
        m_erased[static_cast<std::size_t>(reader)] = true;
    }

    StepPlan& m_plan;
    Dataflow m_flow;
    std::vector<bool> m_erased;
};

}  // namespace

StepPlan fuseActCast(StepPlan plan)
{
    ActCast(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
