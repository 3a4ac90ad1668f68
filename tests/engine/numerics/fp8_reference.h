// SPDX-License-Identifier: Apache-2.0
// Plain definitions of the formats in double precision, slow and independent of the bit tricks under test.
#pragma once

#include "engine/numerics/formats.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace fp8scope::test {

/// The value of a finite, non-negative code: mantissa * 2^power.
inline double valueOfCode(unsigned code, DType type)
{
    const int mantissaBits = type == DType::E4m3 ? 3 : 2;
    const int bias = type == DType::E4m3 ? 7 : 15;
    const auto exponent = static_cast<int>(code >> mantissaBits);
    const double fraction = static_cast<double>(code & ((1U << mantissaBits) - 1U)) / (1 << mantissaBits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

inline unsigned largestFiniteCode(DType type) { return type == DType::E4m3 ? 0x7eU : 0x7bU; }

/// The nearest code by distance, the even one of two that are equally near; saturating.
inline std::uint8_t nearestCode(double value, DType type)
{
    if (std::isnan(value))
        return 0x7f;
    const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
    const double magnitude = std::abs(value);
    unsigned above = 0;  // first code whose value is not below
    while (above < largestFiniteCode(type) && valueOfCode(above, type) < magnitude)
        ++above;
    unsigned best = above;
    if (above > 0 && valueOfCode(above, type) > magnitude) {
        const double up = valueOfCode(above, type) - magnitude;
        const double down = magnitude - valueOfCode(above - 1, type);
        if (down < up || (down == up && (above - 1) % 2 == 0))
            best = above - 1;
    }
    return static_cast<std::uint8_t>(sign | best);
}

}  // namespace fp8scope::test
