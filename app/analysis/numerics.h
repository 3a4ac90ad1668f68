// SPDX-License-Identifier: Apache-2.0
// What quantization does to the numbers: which tensors saturate, underflow or are noisy, where scales lag behind, how
// far layers are from bf16, and how the loss goes.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
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
    double sqnrDb = 0;     ///< mean over the steps that have it; NaN without any
    double sqnrMinDb = 0;  ///< the lowest of them
    /// Where a scale from earlier steps lags: steps in which amax x scale passed the format's largest value, how far
    /// at worst (2: twice as large), and in which step.
    std::uint32_t lagSteps = 0;
    double worstOvershoot = 1;
    std::uint32_t worstLagStep = 0;
    [[nodiscard]] double lossShare() const { return saturatedShare + underflowShare; }
};

/// All quantized tensors of a run, most saturated and underflowed elements first, then the lowest SQNR.
[[nodiscard]] std::vector<TensorNumerics> tensorNumerics(const Trace&, RunId);

/// The format's largest value: 448 or 57344; 0 for an unknown one.
[[nodiscard]] double largestOf(std::string_view format);

struct LossPoint {
    std::uint32_t step = 0;
    double loss = 0;
};
/// The loss of every step of a run that has one, warm-up included, in step order.
[[nodiscard]] std::vector<LossPoint> lossCurve(const Trace&, RunId);

struct StepPoint {
    std::uint32_t step = 0;
    double value = 0;
};
/// A figure of whole steps ("gradient_norm") in step order; values that are not finite included.
[[nodiscard]] std::vector<StepPoint> stepFigures(const Trace&, RunId, std::string_view name);

/// How far a tensor is from what bf16 makes of the same weights and batch, over the steps that were compared.
struct ShadowError {
    std::string tensor;  ///< "layer2.y", "layer2.dy", "layer2.dw"
    std::uint32_t steps = 0;
    double mean = 0, worst = 0;
    std::uint32_t worstStep = 0;
};
/// Largest mean first.
[[nodiscard]] std::vector<ShadowError> shadowErrors(const Trace&, RunId);

/// The magnitudes of one tensor, over all its sampled steps.
struct Magnitudes {
    std::int32_t firstExponent = 0;
    std::vector<double> shares;  ///< [i]: of the sampled elements, in 2^(firstExponent + i) up to twice that
    std::uint32_t steps = 0;     ///< sampled ones
    /// The format's range at the last scale, as exponents: what is above saturates, what is below becomes zero.
    double largestExponent = 0, smallestExponent = 0;
    [[nodiscard]] bool empty() const { return shares.empty(); }
};
[[nodiscard]] Magnitudes magnitudesOf(const Trace&, RunId, std::string_view tensor);

}  // namespace fp8scope::analysis
