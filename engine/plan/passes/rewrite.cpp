// SPDX-License-Identifier: Apache-2.0
// Data flow as compressed rows (one array of readers, one of beginnings), and the removals.
#include "engine/plan/passes/rewrite.h"

#include "engine/plan/plan_writer.h"

#include <algorithm>

namespace fp8scope::plan {

Dataflow::Dataflow(const StepPlan& plan) : m_writer(plan.tensors.size(), -1), m_begin(plan.tensors.size() + 1, 0)
{
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        for (const TensorId id : plan.ops[i].outputs) {
            if (id.valid() && m_writer[id.value] < 0)
                m_writer[id.value] = static_cast<int>(i);
        }
        for (const TensorId id : plan.ops[i].inputs)
            ++m_begin[id.value + 1];
    }
    for (std::size_t t = 1; t < m_begin.size(); ++t)
        m_begin[t] += m_begin[t - 1];
    m_readers.resize(m_begin.back());
    std::vector<std::size_t> next(m_begin.begin(), m_begin.end() - 1);
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        for (const TensorId id : plan.ops[i].inputs)
            m_readers[next[id.value]++] = static_cast<int>(i);
    }
}

std::span<const int> Dataflow::readers(TensorId id) const
{
    return std::span(m_readers).subspan(m_begin[id.value], m_begin[id.value + 1] - m_begin[id.value]);
}

int Dataflow::soleReader(const StepPlan& plan, TensorId id, OpKind kind) const
{
    const auto all = readers(id);
    return all.size() == 1 && plan.ops[static_cast<std::size_t>(all[0])].kind == kind ? all[0] : -1;
}

void eraseOps(StepPlan& plan, const std::vector<bool>& erased)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        if (erased[i])
            continue;
        if (kept != i)
            plan.ops[kept] = std::move(plan.ops[i]);
        ++kept;
    }
    plan.ops.resize(kept);
}

void replaceInputs(StepPlan& plan, const std::vector<TensorId>& replacement)
{
    const auto replace = [&](TensorId& id) {
        if (id.valid() && replacement[id.value].valid())
            id = replacement[id.value];
    };
    for (Op& op : plan.ops) {
        if (op.gemm) {
            for (TensorId* id : {&op.gemm->aTensor, &op.gemm->bTensor, &op.gemm->aScale, &op.gemm->bScale})
                replace(*id);
        }
        std::for_each(op.inputs.begin(), op.inputs.end(), replace);
    }
}

namespace {

/// Calls `visit` on every reference to a tensor that a plan holds, views' parents apart.
template <typename Visit>
void visitReferences(StepPlan& plan, Visit visit)
{
    for (Op& op : plan.ops) {
        std::for_each(op.inputs.begin(), op.inputs.end(), visit);
        std::for_each(op.outputs.begin(), op.outputs.end(), visit);
        if (!op.gemm)
            continue;
        for (TensorId* id : {&op.gemm->aTensor, &op.gemm->bTensor, &op.gemm->dTensor, &op.gemm->aScale,
                             &op.gemm->bScale, &op.gemm->bias, &op.gemm->aux})
            visit(*id);
    }
    for (QuantizedTensor& entry : plan.quantized) {
        for (TensorId* id : {&entry.source, &entry.amax, &entry.scale, &entry.scaleInv})
            visit(*id);
    }
    for (LayerPlan& layer : plan.layers) {
        visit(layer.weight);
        visit(layer.bias);
    }
    for (TensorId* id : {&plan.input, &plan.target, &plan.prediction, &plan.loss})
        visit(*id);
}

}  // namespace

void eraseUnusedTensors(StepPlan& plan)
{
    std::vector<bool> used(plan.tensors.size(), false);
    visitReferences(plan, [&](TensorId& id) {
        if (id.valid())
            used[id.value] = true;
    });
    for (std::size_t t = 0; t < plan.tensors.size(); ++t) {
        if (used[t] && plan.tensors[t].viewOf.valid())
            used[plan.tensors[t].viewOf.value] = true;
    }
    std::vector<TensorId> renumbered(plan.tensors.size());
    std::uint32_t kept = 0;
    for (std::uint32_t t = 0; t < plan.tensors.size(); ++t) {
        if (!used[t])
            continue;
        if (kept != t)
            plan.tensors[kept] = std::move(plan.tensors[t]);
        renumbered[t] = TensorId(kept++);
    }
    plan.tensors.resize(kept);
    const auto renumber = [&](TensorId& id) {
        if (id.valid())
            id = renumbered[id.value];
    };
    visitReferences(plan, renumber);
    for (Tensor& tensor : plan.tensors)
        renumber(tensor.viewOf);
}

std::string siblingName(const Op& op, std::string_view what)
{
    return op.name.substr(0, op.name.rfind('.') + 1).append(what);
}

std::string withVerb(const std::string& opName, std::string_view verb)
{
    const std::size_t dot = opName.rfind('.') + 1;
    const std::size_t operand = opName.rfind('_');
    return joined({std::string_view(opName).substr(0, dot), verb, std::string_view(opName).substr(operand)});
}

}  // namespace fp8scope::plan
