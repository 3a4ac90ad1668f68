// SPDX-License-Identifier: Apache-2.0
// Appends tensors and ops to a plan under construction. Internal to engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

#include <initializer_list>
#include <string_view>
#include <utility>

namespace fp8scope::plan {

/// The parts in one string, allocated once: names are most of the work of building a deep plan.
[[nodiscard]] inline std::string joined(std::initializer_list<std::string_view> parts)
{
    std::size_t size = 0;
    for (const std::string_view part : parts)
        size += part.size();
    std::string text;
    text.reserve(size);
    for (const std::string_view part : parts)
        text += part;
    return text;
}

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
    Op& append(OpKind kind, std::string name, Phase phase, int layer, std::vector<TensorId> inputs,
               std::vector<TensorId> outputs)
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
