// SPDX-License-Identifier: Apache-2.0
// What a host event's name says about the work inside it: a module, a phase, a step. Looked at once per distinct name.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace fp8scope::import {

/// What marks the steps of a run, the surest first.
enum class StepMark : std::uint8_t {
    ProfilerStep,   ///< "ProfilerStep#12"
    Iteration,      ///< a numbered range: "iteration 12", "step 12"
    EngineExecute,  ///< vLLM's "execute_context_1(...)_generation_0(...)": one pass of the serving engine
    TrainStep,      ///< an unnumbered range a step: "train_step", "iteration"
    OptimizerStep,  ///< "Optimizer.step#SGD.step": ends a step
    None,
};

enum class PhaseHint : std::uint8_t { None, Forward, Backward, Optimizer };

struct NameHint {
    bool isModuleFrame = false;    ///< "nn.Module: Linear_0"
    bool isModuleRange = false;    ///< a range that is named like a part of a model: "decoder.layers.3.mlp"
    bool isBackwardNode = false;   ///< "autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0"
    bool accumulatesGrad = false;  ///< "torch::autograd::AccumulateGrad": a parameter's gradient
    PhaseHint phase = PhaseHint::None;
    StepMark step = StepMark::None;
    bool isMark = false;                    ///< the profiler's own mark, of whatever kind the file says it is: no op
    std::uint32_t stepNumber = UINT32_MAX;  ///< of numbered marks
};

[[nodiscard]] NameHint hintOf(std::string_view name);
/// "Linear_0" of "nn.Module: Linear_0", "encoder" of "## encoder ##"; other names as they are.
[[nodiscard]] std::string_view moduleName(std::string_view name);

/// Of every name of a file; kernels' and copies' names say nothing here.
[[nodiscard]] std::vector<NameHint> hintsOf(const std::vector<Name>&);

}  // namespace fp8scope::import
