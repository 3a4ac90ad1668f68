// SPDX-License-Identifier: Apache-2.0
// A run that nobody ran: the plan of each mode with predicted times, as a trace that every command and the app opens.
#pragma once

#include "collector/trace/trace.h"
#include "engine/plan/config.h"
#include "engine/predict/step.h"

#include <string>
#include <vector>

namespace fp8scope::session {

struct PredictionRequest {
    plan::MlpConfig config;
    /// Who submits the kernels of a mode; "eager" models PyTorch without torch.compile.
    predict::Host host = predict::Host::Engine;
    int steps = 12;    ///< recorded steps of a mode; all alike
    std::string tool;  ///< program and version
};

struct PredictedMode {
    std::string mode;
    predict::PredictedStep step;
};

struct Prediction {
    Trace
        trace;  ///< a run a mode, Origin::Predicted, one device; a queue with the ops and a thread with the submissions
    std::vector<PredictedMode> modes;
};

/// Throws Error for a plan that cannot be made, and for a device that lacks the arithmetic of a mode.
[[nodiscard]] Prediction predictRun(const PredictionRequest&, const predict::DeviceModel&);

}  // namespace fp8scope::session
