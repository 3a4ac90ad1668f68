// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation by repetition: everything before the update is copied once a part, with tensors of its own but
// for parameters, delayed scales, and what adds up over the parts.
#include "collector/trace/error.h"
#include "engine/plan/plan_writer.h"
#include "engine/plan/repeated_ops.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace fp8scope::plan {
namespace {

std::string partName(int part, std::string_view name) { return joined({"mb", std::to_string(part), ".", name}); }

class MicroBatches {
public:
    explicit MicroBatches(StepPlan& plan) : m_plan(plan), m_summed(plan.tensors.size(), false) {}

    void repeat()
    {
        std::vector<Op> once = std::move(m_plan.ops);
        const auto update =
            std::find_if(once.begin(), once.end(), [](const Op& op) { return op.kind == OpKind::OptimizerStep; });
        findSummed(std::span<const Op>(update, once.end()));
        const std::span<const Op> part(once.begin(), update);
        const auto parts = static_cast<std::size_t>(m_plan.config.microBatches);
        m_tensorCount = static_cast<std::uint32_t>(m_plan.tensors.size());
        m_quantizedCount = m_plan.quantized.size();
        m_plan.ops.clear();
        m_plan.ops.reserve(once.size() * parts);
        m_plan.tensors.reserve(m_plan.tensors.size() * parts);
        for (int i = 0; i < m_plan.config.microBatches; ++i)
            addPart(part, i);
        nameFirst();
        m_plan.ops.insert(m_plan.ops.end(), std::make_move_iterator(update), std::make_move_iterator(once.end()));
    }

private:
    /// What the update reads, and the loss: one tensor for all parts.
    void findSummed(std::span<const Op> update)
    {
        for (const Op& op : update) {
            for (const TensorId id : op.inputs)
                m_summed[id.value] = true;
        }
        m_summed[m_plan.loss.value] = true;
    }

    [[nodiscard]] bool isOfOnePart(TensorId id) const { return !m_plan.tensor(id).persistent && !m_summed[id.value]; }

    /// The first part keeps the tensors that were there.
    void addPart(std::span<const Op> part, int index)
    {
        TensorCopies copies(m_plan);
        for (std::uint32_t t = 0; index > 0 && t < m_tensorCount; ++t) {
            if (isOfOnePart(TensorId(t)))
                copies.copy(TensorId(t), partName(index, m_plan.tensors[t].name));
        }
        const std::vector<int> statistics = addStatistics(copies, index);
        for (const Op& op : part) {
            Op& copy = m_plan.ops.emplace_back(op);
            copy.name = partName(index, op.name);
            copy.microBatch = index;
            copies.redirect(copy);
            if (op.quantized >= 0)
                copy.quantized = statistics[static_cast<std::size_t>(op.quantized)];
            if (index > 0)
                accumulate(copy);
        }
    }

    /// Activations and gradients of a part are tensors of their own; weights are not.
    std::vector<int> addStatistics(const TensorCopies& copies, int index)
    {
        std::vector<int> position;
        for (std::size_t q = 0; q < m_quantizedCount; ++q) {
            QuantizedTensor entry = m_plan.quantized[q];
            if (!entry.source.valid() || !copies.has(entry.source)) {
                position.push_back(static_cast<int>(q));
                continue;
            }
            entry.name = partName(index, entry.name);
            for (TensorId* id : {&entry.source, &entry.amax, &entry.scale, &entry.scaleInv})
                *id = copies.of(*id);
            position.push_back(static_cast<int>(m_plan.quantized.size()));
            m_plan.quantized.push_back(std::move(entry));
        }
        return position;
    }

    void accumulate(Op& op) const
    {
        const bool adds = std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) {
            return id.valid() && id.value < m_tensorCount && m_summed[id.value];
        });
        if (!adds)
            return;
        if (op.gemm)
            op.gemm->beta = 1;
        else if (op.kind == OpKind::BiasGrad || op.kind == OpKind::Loss || op.kind == OpKind::RescaleOutput)
            op.accumulate = true;
        else
            throw Error("a gradient is written by an op that cannot add to it", op.name,
                        "this is a mistake of fp8scope, please report it with the configuration");
    }

    /// After the copies, which are named after the first part's tensors.
    void nameFirst()
    {
        for (std::size_t q = 0; q < m_quantizedCount; ++q) {
            QuantizedTensor& entry = m_plan.quantized[q];
            if (entry.source.valid() && isOfOnePart(entry.source))
                entry.name = partName(0, entry.name);
        }
        for (std::uint32_t t = 0; t < m_tensorCount; ++t) {
            if (isOfOnePart(TensorId(t)))
                m_plan.tensors[t].name = partName(0, m_plan.tensors[t].name);
        }
    }

    StepPlan& m_plan;
    std::vector<bool> m_summed;  ///< by tensor
    std::uint32_t m_tensorCount = 0;
    std::size_t m_quantizedCount = 0;
};

}  // namespace

StepPlan repeatForMicroBatches(StepPlan plan)
{
    if (plan.config.microBatches > 1)
        MicroBatches(plan).repeat();
    return plan;
}

}  // namespace fp8scope::plan
