// SPDX-License-Identifier: Apache-2.0
// Undoing the activation also starts the quantization of its result. Delayed scales are known before, so the one pass
// writes the fp8 gradient, its transpose, the amax and the bias gradient, and the bf16 gradient is never written.
// Tensorwise scales need the whole tensor's amax first: that and the bias gradient are fused, the cast is not.
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

namespace fp8scope::plan {
namespace {

class DactDbiasCastTranspose {
public:
    explicit DactDbiasCastTranspose(StepPlan& plan) : m_plan(plan), m_flow(plan), m_erased(plan.ops.size(), false) {}

    void run()
    {
        const bool delayed = m_plan.config.recipe.kind == RecipeKind::Delayed;
        for (Op& op : m_plan.ops) {
            if (op.kind != OpKind::ActBackward)
                continue;
            if (delayed)
                fuseCast(op);
            else
                fuseAmax(op);
        }
        eraseOps(m_plan, m_erased);
    }

private:
    void fuseCast(Op& backward)
    {
        const auto readers = m_flow.readers(backward.outputs[0]);
        if (readers.size() != 1)
            return;
        const Op& cast = op(readers[0]);
        if (cast.kind != OpKind::CastTranspose && cast.kind != OpKind::CastTransposeDbias)
            return;  // a bf16 layer
        backward.kind = OpKind::ActBackwardCastTranspose;
        backward.name = siblingName(backward, "act_grad_cast_transpose");
        backward.inputs.push_back(cast.inputs[1]);
        backward.outputs = cast.outputs;
        backward.outputs.resize(4, TensorId::none());
        backward.fp8Type = cast.fp8Type;
        backward.accumulate = cast.accumulate;
        backward.quantized = cast.quantized;
        m_plan.quantized[static_cast<std::size_t>(cast.quantized)].source = TensorId::none();
        m_erased[static_cast<std::size_t>(readers[0])] = true;
    }

    void fuseAmax(Op& backward)
    {
        TensorId amax, dbias;
        for (const int reader : m_flow.readers(backward.outputs[0])) {
            Op& next = op(reader);
            if (next.kind == OpKind::Amax && !amax.valid()) {
                amax = next.outputs[0];
                m_erased[static_cast<std::size_t>(reader)] = true;
            } else if (next.kind == OpKind::CastTransposeDbias) {
                dbias = next.outputs[3];
                backward.accumulate = next.accumulate;
                next.kind = OpKind::CastTranspose;
                next.name = withVerb(next.name, "cast_transpose");
                next.accumulate = false;
                next.outputs.pop_back();
            }
        }
        if (!amax.valid())
            return;
        backward.kind = OpKind::ActBackwardAmax;
        backward.name = siblingName(backward, "act_grad_amax");
        backward.outputs.push_back(amax);
        backward.outputs.push_back(dbias);
    }

    [[nodiscard]] Op& op(int position) { return m_plan.ops[static_cast<std::size_t>(position)]; }

    StepPlan& m_plan;
    Dataflow m_flow;
    std::vector<bool> m_erased;
};

}  // namespace

StepPlan fuseDactDbiasCastTranspose(StepPlan plan)
{
    DactDbiasCastTranspose(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
