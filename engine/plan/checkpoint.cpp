// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing as a rewrite of the unfused plan: before a block's backward, copies of those of its forward
// ops whose results backward reads. What backward does not need (the last GEMM of a block without activation, amaxes
// that only later steps use) does not run again, as with PyTorch's early stop.
#include "engine/plan/plan_writer.h"
#include "engine/plan/repeated_ops.h"

#include <algorithm>

namespace fp8scope::plan {
namespace {

/// "layer1.fwd.x.q" -> "layer1.recompute.x.q", "layer1.z" -> "layer1.recompute.z".
std::string recomputedName(std::string_view name)
{
    constexpr std::string_view kForward = ".fwd.";
    const std::size_t forward = name.find(kForward);
    if (forward != std::string_view::npos)
        return joined({name.substr(0, forward), ".recompute.", name.substr(forward + kForward.size())});
    const std::size_t dot = name.find('.');
    return joined({name.substr(0, dot), ".recompute", name.substr(dot)});
}

struct OpRange {
    std::size_t begin = 0, end = 0;
};

class Checkpointing {
public:
    explicit Checkpointing(StepPlan& plan)
        : m_plan(plan), m_written(plan.tensors.size(), -1), m_needed(plan.tensors.size(), -1)
    {}

    void rewrite()
    {
        std::vector<Op> before = std::move(m_plan.ops);
        m_plan.ops.clear();
        m_plan.ops.reserve(before.size() * 3 / 2);
        findForward(before);
        int block = blockCount();  // backward runs through them from the last to the first
        TensorCopies copies(m_plan);
        for (std::size_t i = 0; i < before.size(); ++i) {
            const bool backward = before[i].phase == Phase::Dgrad || before[i].phase == Phase::Wgrad;
            if (backward && blockOf(before[i]) < block) {
                block = blockOf(before[i]);
                recompute(before, i, block, copies);
            }
            if (backward)
                copies.redirectInputs(before[i]);
            m_plan.ops.push_back(before[i]);  // forward ops are copied from later on
        }
    }

private:
    [[nodiscard]] int blockOf(const Op& op) const { return op.layer / m_plan.config.checkpoint; }
    [[nodiscard]] int blockCount() const
    {
        return (static_cast<int>(m_plan.layers.size()) + m_plan.config.checkpoint - 1) / m_plan.config.checkpoint;
    }

    /// Each block's range of forward ops, and which block wrote a tensor that does not stay.
    void findForward(const std::vector<Op>& ops)
    {
        m_forward.resize(static_cast<std::size_t>(blockCount()));
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].phase != Phase::Forward)
                continue;
            OpRange& range = m_forward[static_cast<std::size_t>(blockOf(ops[i]))];
            range.begin = range.end == 0 ? i : range.begin;
            range.end = i + 1;
            for (const TensorId id : ops[i].outputs) {
                if (id.valid() && !m_plan.tensor(id).persistent)
                    m_written[id.value] = blockOf(ops[i]);
            }
        }
    }

    void need(const Op& reader, int block)
    {
        for (const TensorId id : reader.inputs) {
            if (id.valid() && m_written[id.value] == block)
                m_needed[id.value] = block;
        }
    }

    void recompute(const std::vector<Op>& ops, std::size_t backwardBegin, int block, TensorCopies& copies)
    {
        for (std::size_t i = backwardBegin; i < ops.size() && isBackwardOf(ops[i], block); ++i)
            need(ops[i], block);
        const OpRange forward = m_forward[static_cast<std::size_t>(block)];
        std::vector<std::size_t> again;
        for (std::size_t i = forward.end; i-- > forward.begin;) {
            if (!std::any_of(ops[i].outputs.begin(), ops[i].outputs.end(),
                             [&](TensorId id) { return id.valid() && m_needed[id.value] == block; }))
                continue;
            again.push_back(i);
            need(ops[i], block);
        }
        for (auto i = again.rbegin(); i != again.rend(); ++i)
            repeat(ops[*i], copies);
    }

    [[nodiscard]] bool isBackwardOf(const Op& op, int block) const
    {
        return (op.phase == Phase::Dgrad || op.phase == Phase::Wgrad) && blockOf(op) == block;
    }

    void repeat(const Op& op, TensorCopies& copies)
    {
        for (const TensorId id : op.outputs) {
            if (id.valid())
                copies.copy(id, recomputedName(m_plan.tensor(id).name));
        }
        Op& copy = m_plan.ops.emplace_back(op);
        copy.name = recomputedName(op.name);
        copy.recompute = true;
        copy.quantized = -1;  // counted the first time
        copies.redirect(copy);
    }

    StepPlan& m_plan;
    std::vector<OpRange> m_forward;        ///< by block
    std::vector<int> m_written, m_needed;  ///< by tensor: the block whose forward wrote it, whose backward needs it
};

}  // namespace

StepPlan recomputeActivations(StepPlan plan)
{
    if (plan.config.checkpoint > 0)
        Checkpointing(plan).rewrite();
    return plan;
}

}  // namespace fp8scope::plan
