// SPDX-License-Identifier: Apache-2.0
// What quantization does to the numbers: which tensors saturate or underflow, and how the loss goes.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

/// One quantized tensor of a run over all its recorded steps.
struct TensorNumerics {
    RunId run;
    LayerId layer;
    std::string tensor;  ///< "layer2.dy"
    std::string format;  ///< "e4m3" or "e5m2"
    std::uint32_t steps = 0;
    double saturatedShare = 0;    ///< of all its elements over all steps
    double underflowShare = 0;    ///< of all its elements: non-zero that became zero
    double zeroShare = 0;         ///< zero before the cast
    double worstStepLoss = 0;     ///< largest share of saturated and underflowed elements in one step
    std::uint32_t worstStep = 0;  ///< that step's index
    double amaxMin = 0, amaxMax = 0;
    double lastScale = 1;
    double sqnrDb = 0;  ///< mean over the steps that have it; NaN without any
    [[nodiscard]] double lossShare() const { return saturatedShare + underflowShare; }
};

/// All quantized tensors of a run, most saturated and underflowed elements first.
[[nodiscard]] std::vector<TensorNumerics> tensorNumerics(const Trace&, RunId);

struct LossPoint {
    std::uint32_t step = 0;
    double loss = 0;
};
/// The loss of every step of a run that has one, warm-up included, in step order.
[[nodiscard]] std::vector<LossPoint> lossCurve(const Trace&, RunId);

}  // namespace fp8scope::analysis
