// SPDX-License-Identifier: Apache-2.0
// How fp8 scales are chosen: torchao's tensorwise and rowwise scaling and Transformer Engine's delayed scaling, as pure
// functions. A scale multiplies before the cast; GEMMs are given its reciprocal. Scales of blocks: block_scaling.h.
#pragma once

#include "engine/numerics/formats.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace fp8scope {

/// torchao's EPS (float8_utils.py): an all-zero tensor gets a finite scale.
inline constexpr double kTensorwiseMinAmax = 1e-12;

/// torchao, amax_to_scale: finfo(dtype).max / clamp(amax, min = 1e-12), computed in f64, then f32. torch divides a
/// number by a tensor as reciprocal times number, which rounds twice. A NaN amax gives a NaN scale, an infinite one 0.
/// Rowwise scales are the same, of a row's amax.
[[nodiscard]] constexpr float tensorwiseScale(float amax, DType format, double minAmax = kTensorwiseMinAmax)
{
    const double wide = amax;
    const double clamped = wide < minAmax ? minAmax : wide;
    return static_cast<float>(1.0 / clamped * static_cast<double>(fp8Max(format)));
}

/// torchao, round_scales_to_power_of_2: exp2(floor(log2(scale))), in f32. Scales stay exact when multiplied with.
[[nodiscard]] inline float powerOfTwoScale(float scale) { return std::exp2(std::floor(std::log2(scale))); }

/// The dequantization factor that a GEMM is given.
[[nodiscard]] constexpr float inverseScale(float scale) { return 1.0F / scale; }

/// Transformer Engine, delayed scaling: (fp8Max / amax) / 2^margin in f32. amax 0, infinite or NaN keeps the old scale;
/// a scale that overflows becomes FLT_MAX.
[[nodiscard]] inline float delayedScale(float amax, float oldScale, DType format, int margin)
{
    if (!std::isfinite(amax) || !(amax > 0))
        return oldScale;
    const float scale = std::ldexp(fp8Max(format), -margin) / amax;
    return std::isinf(scale) ? std::numeric_limits<float>::max() : scale;
}

/// The largest entry of a history; NaN entries do not count (fmaxf).
[[nodiscard]] inline float historyMax(std::span<const float> history)
{
    float amax = 0;
    for (const float entry : history)
        amax = std::fmax(amax, entry);
    return amax;
}

/// Which amax of the history the delayed recipe scales by.
enum class AmaxAlgorithm : std::uint8_t { Max, MostRecent };

struct DelayedScaling {
    DType format = DType::E4m3;
    int margin = 0;
    AmaxAlgorithm algorithm = AmaxAlgorithm::Max;
};

/// Transformer Engine's update after a step (amax_and_scale_update): the history moves one place towards its start, the
/// step's amax goes to its end, slot 0 (the staging slot of the next step) becomes zero. The scale of the next step
/// comes from all entries, the new one and the one that slot 0 held after the move included, or from the new one alone.
/// An amax of 0 (tensor not used in this step) changes nothing. Returns the next scale. `history` must not be empty.
[[nodiscard]] inline float rollDelayedHistory(float stepAmax, std::span<float> history, float oldScale,
                                              const DelayedScaling& rule)
{
    if (stepAmax == 0)
        return oldScale;
    for (std::size_t i = 0; i + 1 < history.size(); ++i)
        history[i] = history[i + 1];
    history.back() = stepAmax;
    const float amax = rule.algorithm == AmaxAlgorithm::MostRecent ? stepAmax : historyMax(history);
    history.front() = 0;
    return delayedScale(amax, oldScale, rule.format, rule.margin);
}

}  // namespace fp8scope
