// SPDX-License-Identifier: Apache-2.0
// How much of the arena each class of tensors needs at its own peak.
#include "engine/plan/step_plan.h"

#include <algorithm>
#include <array>
#include <functional>

namespace fp8scope::plan {
namespace {

constexpr std::array kClasses{TensorClass::Weight,   TensorClass::Master,     TensorClass::OptimizerState,
                              TensorClass::Input,    TensorClass::Activation, TensorClass::Gradient,
                              TensorClass::Fp8Copy,  TensorClass::Transpose,  TensorClass::Scale,
                              TensorClass::Workspace};

using Bytes = std::vector<std::size_t>;  // by op

/// Bytes of a class that are live during each op.
Bytes liveBytes(const StepPlan& plan, TensorClass cls)
{
    const std::size_t opCount = plan.ops.size();
    Bytes begun(opCount + 1, 0), ended(opCount + 1, 0);
    for (const Tensor& tensor : plan.tensors) {
        if (tensor.cls != cls || tensor.viewOf.valid() || tensor.firstUse < 0)
            continue;
        begun[tensor.persistent ? 0 : static_cast<std::size_t>(tensor.firstUse)] += tensor.bytes();
        ended[tensor.persistent ? opCount : static_cast<std::size_t>(tensor.lastUse) + 1] += tensor.bytes();
    }
    Bytes live(opCount);
    std::size_t now = 0;
    for (std::size_t i = 0; i < opCount; ++i)
        live[i] = now = now + begun[i] - ended[i];
    return live;
}

}  // namespace

std::string_view toString(TensorClass cls)
{
    switch (cls) {
    case TensorClass::Weight: return "weights";
    case TensorClass::Master: return "master weights";
    case TensorClass::OptimizerState: return "optimizer state";
    case TensorClass::Input: return "batch";
    case TensorClass::Activation: return "activations";
    case TensorClass::Gradient: return "gradients";
    case TensorClass::Fp8Copy: return "fp8 copies";
    case TensorClass::Transpose: return "fp8 transposes";
    case TensorClass::Scale: return "scales";
    case TensorClass::Workspace: return "workspace";
    }
    return "?";
}

std::vector<MemoryUse> memoryByClass(const StepPlan& plan)
{
    std::vector<MemoryUse> use;
    for (const TensorClass cls : kClasses) {
        const Bytes live = liveBytes(plan, cls);
        use.push_back({std::string(toString(cls)), live.empty() ? 0 : *std::max_element(live.begin(), live.end())});
    }
    return use;
}

std::vector<MemoryUse> memoryAtPeak(const StepPlan& plan)
{
    std::array<Bytes, kClasses.size()> live;
    Bytes all(plan.ops.size(), 0);
    for (std::size_t c = 0; c < kClasses.size(); ++c) {
        live[c] = liveBytes(plan, kClasses[c]);
        std::transform(all.begin(), all.end(), live[c].begin(), all.begin(), std::plus<>());
    }
    const auto busiest = static_cast<std::size_t>(std::max_element(all.begin(), all.end()) - all.begin());
    std::vector<MemoryUse> use;
    for (std::size_t c = 0; c < kClasses.size(); ++c)
        use.push_back({std::string(toString(kClasses[c])), live[c].empty() ? 0 : live[c][busiest]});
    return use;
}

}  // namespace fp8scope::plan
