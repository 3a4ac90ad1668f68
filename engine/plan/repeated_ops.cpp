// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/repeated_ops.h"

namespace fp8scope::plan {

void TensorCopies::copy(TensorId original, std::string name)
{
    if (has(original))
        return;
    Tensor tensor = m_plan.tensor(original);
    tensor.name = std::move(name);
    m_copies[original.value] = TensorId(static_cast<std::uint32_t>(m_plan.tensors.size()));
    m_plan.tensors.push_back(std::move(tensor));
}

TensorId TensorCopies::of(TensorId original) const
{
    return original.valid() && has(original) ? m_copies[original.value] : original;
}

void TensorCopies::redirectInputs(Op& op) const
{
    for (TensorId& id : op.inputs)
        id = of(id);
    if (!op.gemm)
        return;
    for (TensorId* id : {&op.gemm->aTensor, &op.gemm->bTensor, &op.gemm->aScale, &op.gemm->bScale, &op.gemm->bias})
        *id = of(*id);
}

void TensorCopies::redirect(Op& op) const
{
    redirectInputs(op);
    for (TensorId& id : op.outputs)
        id = of(id);
    if (op.gemm)
        op.gemm->dTensor = of(op.gemm->dTensor);
}

}  // namespace fp8scope::plan
