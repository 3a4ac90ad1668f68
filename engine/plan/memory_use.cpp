// SPDX-License-Identifier: Apache-2.0
// What fills the arena when it is fullest, by class of tensor.
#include "engine/plan/memory_planner.h"

#include <array>
#include <numeric>

namespace fp8scope::plan {
namespace {

constexpr std::array kClasses{TensorClass::Weight,   TensorClass::Master,    TensorClass::OptimizerState, TensorClass::Input,
                              TensorClass::Activation, TensorClass::Gradient, TensorClass::Fp8Copy,       TensorClass::Transpose,
                              TensorClass::Scale,    TensorClass::Workspace};

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
    std::array<std::size_t, kClasses.size()> bytes{};
    const int peak = busiestOp(plan);
    for (const Tensor& tensor : plan.tensors) {
        if (!tensor.viewOf.valid() && isLive(plan, tensor, peak))
            bytes[static_cast<std::size_t>(tensor.cls)] += tensor.bytes();
    }
    std::vector<MemoryUse> use;
    for (const TensorClass cls : kClasses)
        use.push_back({std::string(toString(cls)), bytes[static_cast<std::size_t>(cls)]});
    const std::size_t live = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
    use.push_back({"alignment and gaps", plan.arenaBytes - live});
    return use;
}

}  // namespace fp8scope::plan
