// SPDX-License-Identifier: Apache-2.0
// Devices whose ops were measured one kind at a time, as `fp8scope calibrate` does with this machine's CPU: an op takes
// a start, its bytes and its FLOPs, each at the rate that its kind reached.
#pragma once

#include "engine/plan/step_plan.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace fp8scope::predict {

/// us = floorUs + ((bytes / bytesPerUs)^2 + (flops / flopsPerUs)^2)^(1/2), where bytes beyond the caches count
/// `coldFactor` times.
struct OpConstants {
    double floorUs = 1;
    double bytesPerUs = 10'000;
    double flopsPerUs = 100'000;
    double coldFactor = 1.5;   ///< how much slower memory is than the caches
    double cacheBytes = 16e6;  ///< what fits them
};

struct MeasuredOp {
    std::string kind;  ///< opClass
    double bytes = 0, flops = 0, us = 0;
};

/// Kinds that are measured apart: "cast", "act_forward", ...; GEMMs by operand types and layout: "gemm bf16 tn".
[[nodiscard]] std::string opClass(const plan::Op&);

[[nodiscard]] double predictOpUs(const OpConstants&, double bytes, double flops);

/// The constants of every kind that occurs in the rows.
[[nodiscard]] std::map<std::string, OpConstants> fitOps(std::span<const MeasuredOp>, double cacheBytes);

}  // namespace fp8scope::predict
