// SPDX-License-Identifier: Apache-2.0
// Appends tensors and ops to a plan under construction. Internal to engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

#include <utility>

namespace fp8scope::plan {

class PlanWriter {
public:
    explicit PlanWriter(StepPlan& plan) : m_plan(plan) {}

    [[nodiscard]] StepPlan& plan() { return m_plan; }

    TensorId add(Tensor tensor)
    {
        m_plan.tensors.push_back(std::move(tensor));
        return TensorId(static_cast<std::uint32_t>(m_plan.tensors.size() - 1));
    }

    /// The returned op is valid until the next one is appended; its derived facts are filled in by deriveOpFacts.
    Op& append(OpKind kind, std::string name, Phase phase, int layer, std::vector<TensorId> inputs, std::vector<TensorId> outputs)
    {
        Op& op = m_plan.ops.emplace_back();
        op.name = std::move(name);
        op.kind = kind;
        op.phase = phase;
        op.layer = layer;
        op.inputs = std::move(inputs);
        op.outputs = std::move(outputs);
        return op;
    }

private:
    StepPlan& m_plan;
};

}  // namespace fp8scope::plan
