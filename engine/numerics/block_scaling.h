// SPDX-License-Identifier: Apache-2.0
// Scales of blocks within a tensor, as pure functions: Transformer Engine's fp32 scales of 128-element blocks, and the
// powers of two that mxfp8 stores as e8m0, rounded as cuBLAS (and Transformer Engine) or as the OCP specification does.
#pragma once

#include "engine/numerics/formats.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace fp8scope {

inline constexpr float kBf16Max = 0x1.fep127F;

/// Transformer Engine, compute_scale_from_amax: fp8Max / max(amax, epsilon), rounded once in f32. An amax of 0,
/// infinity or NaN gives 1; a scale that overflows becomes the largest bf16 (the quantized type). Powers of two are
/// rounded down.
[[nodiscard]] inline float blockScale(float amax, DType format, float epsilon, bool powerOfTwo)
{
    if (amax < epsilon)
        amax = epsilon;
    if (!std::isfinite(amax) || amax == 0)
        return 1;
    float scale = fp8Max(format) / amax;
    if (std::isinf(scale))
        scale = kBf16Max;
    return powerOfTwo ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) & 0xff800000U) : scale;
}

/// How the e8m0 scale of an mxfp8 block is rounded.
enum class E8m0Rounding : std::uint8_t {
    Rceil,  ///< cuBLAS, Transformer Engine: the least power of two that is amax / fp8Max or more; nothing saturates
    Floor,  ///< OCP Microscaling 1.0, torchao: floor(log2(amax)) - exponent of fp8Max; beyond fp8Max saturates
};

/// The e8m0 code of a block's dequantization factor. NaN gives NaN (255), an infinite amax 2^127 with Rceil.
[[nodiscard]] inline std::uint8_t e8m0FromAmax(float amax, DType format, E8m0Rounding rounding)
{
    constexpr std::uint32_t kExponentMask = 0x7f800000U, kMantissaMask = 0x007fffffU, kHalf = 0x00400000U;
    if (std::isnan(amax))
        return 255;
    if (rounding == E8m0Rounding::Floor) {
        const std::uint32_t largest = format == DType::E4m3 ? 8 : 15;  // the exponent of 448, of 57344
        const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(amax) & kExponentMask) >> 23;
        return static_cast<std::uint8_t>(exponent > largest ? exponent - largest : 0);
    }
    const auto bits = std::bit_cast<std::uint32_t>(amax / fp8Max(format));
    const std::uint32_t exponent = bits >> 23, mantissa = bits & kMantissaMask;
    if (exponent >= 254)
        return 254;
    const bool up = exponent == 0 ? mantissa > kHalf : mantissa != 0;  // code 0 is the subnormal 2^-127
    return static_cast<std::uint8_t>(exponent + (up ? 1 : 0));
}

/// The factor that multiplies before the cast: 2^(127 - code), the reciprocal of decodeE8m0; NaN for 255.
[[nodiscard]] constexpr float scaleOfE8m0(std::uint8_t code)
{
    return code == 255 ? decodeE8m0(255) : decodeE8m0(static_cast<std::uint8_t>(254 - code));
}

}  // namespace fp8scope
