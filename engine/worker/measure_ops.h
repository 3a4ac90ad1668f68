// SPDX-License-Identifier: Apache-2.0
// How long each op of a plan takes on this machine: what `calibrate` fits its constants to.
#pragma once

#include "engine/plan/step_plan.h"

#include <cstdint>
#include <vector>

namespace fp8scope::worker {

struct MeasuredPlan {
    plan::StepPlan plan;
    std::vector<double> opUs;  ///< median over the steps, one an op
    double stepUs = 0;         ///< median
};

/// Trains a few steps of a mode and times them; the first ones warm up and do not count. Throws what the executor does.
[[nodiscard]] MeasuredPlan measurePlan(const plan::MlpConfig&, const std::string& mode, int threads, int steps);

/// Bytes of the last level of cache that this process uses, or 0 where the system does not say.
[[nodiscard]] std::uint64_t lastLevelCacheBytes();

}  // namespace fp8scope::worker
