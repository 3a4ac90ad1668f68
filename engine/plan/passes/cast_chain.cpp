// SPDX-License-Identifier: Apache-2.0
// The eager chains of elementwise and scalar kernels -> one kernel each, as torch.compile makes them. Bitwise the same.
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"

#include <array>
#include <initializer_list>

namespace fp8scope::plan {
namespace {

class CastChain {
public:
    explicit CastChain(StepPlan& plan) : m_plan(plan), m_flow(plan), m_erased(plan.ops.size(), false) {}

    void run()
    {
        for (std::size_t i = 0; i < m_plan.ops.size(); ++i) {
            switch (m_plan.ops[i].kind) {
            case OpKind::Abs: fuseAmax(i); break;
            case OpKind::ScalarToF64: fuseScale(i); break;
            case OpKind::ToF32: fuseCast(i); break;
            case OpKind::BlockCast: fuseScaleLayout(i); break;
            default: break;
            }
        }
        eraseOps(m_plan, m_erased);
    }

private:
    /// The last op of a chain that starts at `first` and goes on with `kinds`, each the only reader of the one before;
    /// the ops before it are marked erased. -1 where the chain breaks.
    int follow(std::size_t first, std::initializer_list<OpKind> kinds)
    {
        std::array<std::size_t, 4> passed{};
        std::size_t count = 0, at = first;
        for (const OpKind kind : kinds) {
            const int next = m_flow.soleReader(m_plan, m_plan.ops[at].outputs[0], kind);
            if (next < 0)
                return -1;
            passed.at(count++) = at;
            at = static_cast<std::size_t>(next);
        }
        for (std::size_t i = 0; i < count; ++i)
            m_erased[passed[i]] = true;
        return static_cast<int>(at);
    }

    void fuseAmax(std::size_t abs)
    {
        const int last = follow(abs, {OpKind::MaxReduce});
        if (last < 0)
            return;
        Op& op = m_plan.ops[static_cast<std::size_t>(last)];
        op.kind = OpKind::Amax;
        op.name = withVerb(op.name, "amax");
        op.inputs = m_plan.ops[abs].inputs;
    }

    /// Also takes in the rounding to a power of two, and the reciprocal of the scale, which is then there before the
    /// GEMM asks for it.
    void fuseScale(std::size_t toF64)
    {
        int last =
            follow(toF64, {OpKind::ScalarClampMin, OpKind::ScalarReciprocal, OpKind::ScalarMul, OpKind::ScalarToF32});
        if (last >= 0 && m_plan.recipe.powerOfTwo)
            last =
                follow(static_cast<std::size_t>(last), {OpKind::ScalarLog2, OpKind::ScalarFloor, OpKind::ScalarExp2});
        if (last < 0)
            return;
        Op& op = m_plan.ops[static_cast<std::size_t>(last)];
        op.kind = OpKind::ScaleFromAmax;
        op.name = withVerb(op.name, "scale");
        op.inputs = m_plan.ops[toF64].inputs;
        op.constant = m_plan.recipe.minAmax;
        for (const int reader : m_flow.readers(op.outputs[0])) {
            const auto r = static_cast<std::size_t>(reader);
            if (m_plan.ops[r].kind == OpKind::ScalarReciprocal) {
                op.outputs.push_back(m_plan.ops[r].outputs[0]);
                m_erased[r] = true;
            }
        }
    }

    void fuseCast(std::size_t toF32)
    {
        const int last = follow(toF32, {OpKind::MulScale, OpKind::Clamp, OpKind::ToFp8});
        if (last < 0)
            return;
        const auto mulScale = static_cast<std::size_t>(m_flow.readers(m_plan.ops[toF32].outputs[0])[0]);
        Op& op = m_plan.ops[static_cast<std::size_t>(last)];
        op.kind = OpKind::Cast;
        op.name = withVerb(op.name, "cast");
        op.inputs = {m_plan.ops[toF32].inputs[0], m_plan.ops[mulScale].inputs[1]};
    }

    /// The cast writes its factors where the GEMM wants them.
    void fuseScaleLayout(std::size_t cast)
    {
        Op& op = m_plan.ops[cast];
        TensorId& factors = op.outputs[op.outputs[1].valid() ? 1 : 3];
        const int reader = m_flow.soleReader(m_plan, factors, OpKind::ScaleLayout);
        if (reader < 0)
            return;
        factors = m_plan.ops[static_cast<std::size_t>(reader)].outputs[0];
        op.swizzledScales = true;
        m_erased[static_cast<std::size_t>(reader)] = true;
    }

    StepPlan& m_plan;
    Dataflow m_flow;
    std::vector<bool> m_erased;
};

}  // namespace

StepPlan fuseCastChain(StepPlan plan)
{
    CastChain(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
