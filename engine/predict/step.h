// SPDX-License-Identifier: Apache-2.0
// A training step on a device, predicted: when each op of a plan runs on the GPU's queue, for how long, and why.
//
// The host submits the ops in order, each at the cost of its kind of launch; the GPU runs them in order. An op starts
// when it has been submitted and the op before it has ended: the step is the later of the two, gap by gap.
#pragma once

#include "engine/plan/step_plan.h"
#include "engine/predict/device.h"

#include <cstdint>
#include <vector>

namespace fp8scope::predict {

/// Who submits the kernels.
enum class Host : std::uint8_t {
    Engine,  ///< a C++ program such as this project's engine
    Eager,   ///< PyTorch, op by op
    Graph,   ///< one CUDA graph a step
    None,    ///< a CPU executor: the op runs where it is called
};

struct PredictedOp {
    std::int64_t startNs = 0, durNs = 0;
    std::int64_t submitNs = 0, submittedNs = 0;  ///< when the host began and ended to submit it
    Bound bound = Bound::Compute;                ///< Host: the queue was empty when it came
};

struct PredictedStep {
    std::vector<PredictedOp> ops;  ///< one an op of the plan
    std::int64_t gpuNs = 0;        ///< sum of durations
    std::int64_t hostNs = 0;       ///< until the last op is submitted
    std::int64_t stepNs = 0;       ///< from the first submission to the end of the last op
};

/// How long one op takes once it runs.
struct OpTime {
    double us = 0;
    Bound bound = Bound::Memory;
};
[[nodiscard]] OpTime predictOp(const plan::StepPlan&, const plan::Op&, const DeviceModel&);

/// Throws Error when the device has no arithmetic that an op needs.
[[nodiscard]] PredictedStep predictStep(const plan::StepPlan&, const DeviceModel&, Host = Host::Engine);

[[nodiscard]] std::string_view toString(Host);

}  // namespace fp8scope::predict
