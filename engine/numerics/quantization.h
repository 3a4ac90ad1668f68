// SPDX-License-Identifier: Apache-2.0
// One element's quantization and what is counted about it: the definition that every kernel, fused or not, agrees with.
#pragma once

#include "engine/numerics/formats.h"

#include <cstdint>

namespace fp8scope {

/// What happened to the elements of one quantization. Adds up over parts.
struct CastCounts {
    std::uint64_t saturated = 0;    ///< |x * scale| > fp8Max before rounding (infinities too, NaN not)
    std::uint64_t underflowed = 0;  ///< x * scale != 0 became 0
    std::uint64_t zeros = 0;        ///< x * scale == 0

    constexpr CastCounts& operator+=(const CastCounts& other)
    {
        saturated += other.saturated;
        underflowed += other.underflowed;
        zeros += other.zeros;
        return *this;
    }
    friend constexpr bool operator==(const CastCounts&, const CastCounts&) = default;
};

/// The code of value * scale (product rounded to f32, then saturated and rounded to fp8), counted in `counts`.
[[nodiscard]] constexpr std::uint8_t quantize(float value, float scale, DType format, CastCounts& counts)
{
    const float scaled = value * scale;
    const std::uint8_t code = encodeFp8(scaled, format);
    const float max = fp8Max(format);
    counts.saturated += scaled > max || scaled < -max ? 1 : 0;
    counts.zeros += scaled == 0 ? 1 : 0;
    counts.underflowed += scaled != 0 && (code & 0x7fU) == 0 ? 1 : 0;
    return code;
}

/// The larger of two partial amax values; NaN wins, as in torch.max.
[[nodiscard]] constexpr float maxAmax(float a, float b) { return a != a || a > b ? a : b; }

}  // namespace fp8scope
