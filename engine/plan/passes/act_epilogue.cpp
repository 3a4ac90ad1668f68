// SPDX-License-Identifier: Apache-2.0
// The activation in the GEMM's epilogue, with what backward needs as the auxiliary output: for relu one bit an element
// instead of z, for gelu z itself. cuBLASLt's rules for the auxiliary output decide which layers can have it
// ("cublasLtEpilogue_t").
#include "engine/plan/passes.h"
#include "engine/plan/passes/rewrite.h"
#include "engine/plan/plan_writer.h"

#include <algorithm>

namespace fp8scope::plan {
namespace {

constexpr std::int64_t kMaskBitsMultiple = 128, kGeluElementsMultiple = 8;  // of the auxiliary leading dimension

class ActEpilogue {
public:
    explicit ActEpilogue(StepPlan& plan) : m_plan(plan), m_flow(plan), m_erased(plan.ops.size(), false) {}

    void run()
    {
        const std::size_t count = m_plan.ops.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (m_plan.ops[i].kind == OpKind::ActForward)
                fuse(i);
        }
        eraseOps(m_plan, m_erased);
    }

private:
    void fuse(std::size_t activation)
    {
        const TensorId z = m_plan.ops[activation].inputs[0];
        const int producer = m_flow.writer(z);
        Op& gemm = m_plan.ops[static_cast<std::size_t>(producer)];
        const int backward = backwardOf(z, activation);
        const bool aux = backward != kNobody;
        if (producer < 0 || !gemm.gemm || gemm.gemm->beta != 0 || backward == kOthers || !fits(z, aux))
            return;
        GemmCall& call = *gemm.gemm;
        call.epilogue = epilogueOf(call.bias.valid(), m_plan.config.activation, aux);
        call.dTensor = m_plan.ops[activation].outputs[0];
        gemm.outputs = {call.dTensor};
        m_erased[activation] = true;
        if (!aux)
            return;
        call.aux = m_plan.config.activation == Activation::Relu ? addMask(z) : z;
        call.auxLd = m_plan.config.activation == Activation::Relu ? m_plan.tensor(call.aux).cols * kBitsOfWord
                                                                  : m_plan.tensor(call.aux).cols;
        gemm.outputs.push_back(call.aux);
        m_plan.ops[static_cast<std::size_t>(backward)].inputs[1] = call.aux;
    }

    static constexpr int kNobody = -1, kOthers = -2;
    static constexpr std::int64_t kBitsOfWord = 32;

    /// The activation's backward, which reads z as well; kNobody where z serves the activation alone.
    [[nodiscard]] int backwardOf(TensorId z, std::size_t activation) const
    {
        int backward = kNobody;
        for (const int reader : m_flow.readers(z)) {
            const auto r = static_cast<std::size_t>(reader);
            if (r == activation)
                continue;
            if (m_plan.ops[r].kind != OpKind::ActBackward || backward != kNobody)
                return kOthers;
            backward = reader;
        }
        return backward;
    }

    [[nodiscard]] bool fits(TensorId z, bool aux) const
    {
        return !aux || m_plan.config.activation != Activation::Gelu ||
               m_plan.tensor(z).cols % kGeluElementsMultiple == 0;
    }

    TensorId addMask(TensorId z)
    {
        Tensor mask = m_plan.tensor(z);
        mask.name += ".mask";
        mask.type = DType::I32;  // 32 elements a word
        mask.cols = (mask.cols + kMaskBitsMultiple - 1) / kMaskBitsMultiple * (kMaskBitsMultiple / kBitsOfWord);
        m_plan.tensors.push_back(std::move(mask));
        return TensorId(static_cast<std::uint32_t>(m_plan.tensors.size() - 1));
    }

    StepPlan& m_plan;
    Dataflow m_flow;
    std::vector<bool> m_erased;
};

}  // namespace

StepPlan fuseActEpilogue(StepPlan plan)
{
    if (plan.config.activation != Activation::None)
        ActEpilogue(plan).run();
    return plan;
}

}  // namespace fp8scope::plan
