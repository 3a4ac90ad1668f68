// SPDX-License-Identifier: Apache-2.0
// Small questions about plans that several tests ask.
#pragma once

#include "engine/plan/step_plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace fp8scope::plan {

inline MlpConfig configOf(std::vector<std::int64_t> widths, std::int64_t batch)
{
    MlpConfig config;
    config.widths = std::move(widths);
    config.batch = batch;
    return config;
}

inline MlpConfig delayed(MlpConfig config)
{
    config.recipe.kind = RecipeKind::Delayed;
    return config;
}

/// What follows "layerN." in the names of a layer's ops, in order: "fwd.cast_x", ...
inline std::vector<std::string> opsOfLayer(const StepPlan& plan, int layer)
{
    std::vector<std::string> names;
    for (const Op& op : plan.ops) {
        if (op.layer == layer)
            names.push_back(op.name.substr(op.name.find('.') + 1));
    }
    return names;
}

inline std::vector<std::string> opsOfPhase(const StepPlan& plan, int layer, Phase phase)
{
    std::vector<std::string> names;
    for (const Op& op : plan.ops) {
        if (op.layer == layer && op.phase == phase)
            names.push_back(op.name.substr(op.name.rfind('.') + 1));
    }
    return names;
}

inline const Op& opNamed(const StepPlan& plan, const std::string& name)
{
    const auto found = std::find_if(plan.ops.begin(), plan.ops.end(), [&](const Op& op) { return op.name == name; });
    if (found == plan.ops.end())
        throw std::runtime_error("no op " + name);
    return *found;
}

inline const Tensor& tensorNamed(const StepPlan& plan, const std::string& name)
{
    const auto found =
        std::find_if(plan.tensors.begin(), plan.tensors.end(), [&](const Tensor& t) { return t.name == name; });
    if (found == plan.tensors.end())
        throw std::runtime_error("no tensor " + name);
    return *found;
}

inline std::size_t countKind(const StepPlan& plan, OpKind kind)
{
    return static_cast<std::size_t>(
        std::count_if(plan.ops.begin(), plan.ops.end(), [&](const Op& op) { return op.kind == kind; }));
}

/// "a, b": the tensors' names; none() is "-".
inline std::string namesOf(const StepPlan& plan, const std::vector<TensorId>& ids)
{
    std::string text;
    for (const TensorId id : ids)
        text += (text.empty() ? "" : ", ") + (id.valid() ? plan.tensor(id).name : std::string("-"));
    return text;
}

}  // namespace fp8scope::plan
