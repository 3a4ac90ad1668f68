// SPDX-License-Identifier: Apache-2.0
// How much of the arena each class of tensors needs at its own peak.
#include "engine/plan/step_plan.h"

#include <algorithm>
#include <array>

namespace fp8scope::plan {
namespace {

constexpr std::array kClasses{TensorClass::Weight,   TensorClass::Master,     TensorClass::OptimizerState,
                              TensorClass::Input,    TensorClass::Activation, TensorClass::Gradient,
                              TensorClass::Fp8Copy,  TensorClass::Transpose,  TensorClass::Scale,
                              TensorClass::Workspace};

std::size_t peakOf(const StepPlan& plan, TensorClass cls)
{
    const std::size_t opCount = plan.ops.size();
    std::vector<std::size_t> begun(opCount + 1, 0), ended(opCount + 1, 0);
    for (const Tensor& tensor : plan.tensors) {
        if (tensor.cls != cls || tensor.viewOf.valid() || tensor.firstUse < 0)
            continue;
        begun[tensor.persistent ? 0 : static_cast<std::size_t>(tensor.firstUse)] += tensor.bytes();
        ended[tensor.persistent ? opCount : static_cast<std::size_t>(tensor.lastUse) + 1] += tensor.bytes();
    }
    std::size_t live = 0, most = 0;
    for (std::size_t i = 0; i < opCount; ++i) {
        live = live + begun[i] - ended[i];
        most = std::max(most, live);
    }
    return most;
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
    for (const TensorClass cls : kClasses)
        use.push_back({std::string(toString(cls)), peakOf(plan, cls)});
    return use;
}

}  // namespace fp8scope::plan
