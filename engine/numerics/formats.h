// SPDX-License-Identifier: Apache-2.0
// The number formats: their names, sizes and limits, and scalar conversions that define the results bit for bit.
// Header-only and host/device neutral, so kernel bodies share it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace fp8scope {

enum class DType : std::uint8_t { F32, F64, Bf16, E4m3, E5m2, I32, E8m0 };

[[nodiscard]] constexpr std::uint32_t sizeOf(DType type)
{
    switch (type) {
    case DType::F64: return 8;
    case DType::F32:
    case DType::I32: return 4;
    case DType::Bf16: return 2;
    case DType::E4m3:
    case DType::E5m2:
    case DType::E8m0: return 1;
    }
    return 0;
}
[[nodiscard]] constexpr bool isFp8(DType type) { return type == DType::E4m3 || type == DType::E5m2; }

[[nodiscard]] constexpr std::string_view toString(DType type)
{
    switch (type) {
    case DType::F32: return "f32";
    case DType::F64: return "f64";
    case DType::Bf16: return "bf16";
    case DType::E4m3: return "e4m3";
    case DType::E5m2: return "e5m2";
    case DType::I32: return "i32";
    case DType::E8m0: return "e8m0";
    }
    return "?";
}

/// Largest finite value: 448 (e4m3, no infinities) and 57344 (e5m2).
[[nodiscard]] constexpr float fp8Max(DType type) { return type == DType::E4m3 ? 448.0F : 57344.0F; }

inline constexpr std::uint16_t kBf16Nan = 0x7fff;  ///< what cvt.rn.bf16.f32 makes of every NaN
inline constexpr std::uint8_t kFp8Nan = 0x7f;      ///< what cvt.rn.satfinite.{e4m3,e5m2}x2.f32 make of every NaN

/// Exact.
[[nodiscard]] constexpr float decodeBf16(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Round to nearest even; too large values become infinity, NaN becomes kBf16Nan.
[[nodiscard]] constexpr std::uint16_t encodeBf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U)
        return kBf16Nan;
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// What sets the two fp8 formats apart, in the terms of the rounding trick of encodeFp8.
struct Fp8Traits {
    int mantissaBits;       ///< 3, 2
    int minExponent;        ///< of the smallest normal number: -6, -14
    std::uint8_t maxCode;   ///< largest finite: 0x7e, 0x7b
    std::uint32_t maxBits;  ///< its value as the bits of an f32
};
[[nodiscard]] constexpr Fp8Traits fp8Traits(DType type)
{
    return type == DType::E4m3 ? Fp8Traits{3, -6, 0x7e, 0x43e00000U} : Fp8Traits{2, -14, 0x7b, 0x47600000U};
}

/// Round to nearest even with saturation, as cvt.rn.satfinite: beyond fp8Max (infinities too) becomes +-fp8Max,
/// NaN becomes kFp8Nan, the sign of zero is kept.
///
/// Adding 2^(e + 23 - mantissaBits) to |value|, e its exponent but at least minExponent, leaves |value| in units of the
/// last fp8 mantissa bit in the low bits of the sum, rounded by the adder: one addition for normal and subnormal codes
/// alike.
[[nodiscard]] constexpr std::uint8_t encodeFp8(float value, DType type)
{
    const Fp8Traits f = fp8Traits(type);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U)
        return kFp8Nan;
    const auto sign = static_cast<std::uint8_t>((bits >> 24) & 0x80U);
    if (magnitude >= f.maxBits)
        return static_cast<std::uint8_t>(sign | f.maxCode);
    const auto minBits = static_cast<std::uint32_t>(f.minExponent + 127) << 23;
    const std::uint32_t exponentBits = magnitude < minBits ? minBits : magnitude & 0x7f800000U;
    const std::uint32_t unit = exponentBits + (static_cast<std::uint32_t>(23 - f.mantissaBits) << 23);
    const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(unit);
    const std::uint32_t units = std::bit_cast<std::uint32_t>(sum) - unit;
    return static_cast<std::uint8_t>(sign | (((exponentBits - minBits) >> (23 - f.mantissaBits)) + units));
}

/// Exact; e5m2 has infinities. Every NaN code becomes the quiet NaN of its sign.
[[nodiscard]] constexpr float decodeFp8(std::uint8_t code, DType type)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x80U) << 24;
    const std::uint32_t magnitude = code & 0x7fU;
    const Fp8Traits f = fp8Traits(type);
    if (magnitude > f.maxCode)
        return std::bit_cast<float>(sign | (magnitude == 0x7cU ? 0x7f800000U : 0x7fc00000U));
    const std::uint32_t exponent = magnitude >> f.mantissaBits;
    const std::uint32_t mantissa = magnitude & ((1U << f.mantissaBits) - 1U);
    const std::uint32_t significand = exponent == 0 ? mantissa : mantissa | (1U << f.mantissaBits);
    const int power = f.minExponent - f.mantissaBits + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
    const float unit = std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
    const float value = static_cast<float>(significand) * unit;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

/// A scale of mxfp8, exact: 2^(code - 127); 255 is NaN.
[[nodiscard]] constexpr float decodeE8m0(std::uint8_t code)
{
    if (code == 0)
        return std::bit_cast<float>(1U << 22);  // 2^-127, a subnormal f32
    return std::bit_cast<float>(code == 255 ? 0x7fc00000U : static_cast<std::uint32_t>(code) << 23);
}

/// decodeFp8 of all 256 codes.
[[nodiscard]] constexpr std::array<float, 256> makeFp8DecodeTable(DType type)
{
    std::array<float, 256> table{};
    for (unsigned code = 0; code < 256; ++code)
        table[code] = decodeFp8(static_cast<std::uint8_t>(code), type);
    return table;
}
inline constexpr std::array<float, 256> kE4m3Values = makeFp8DecodeTable(DType::E4m3);
inline constexpr std::array<float, 256> kE5m2Values = makeFp8DecodeTable(DType::E5m2);
[[nodiscard]] constexpr const std::array<float, 256>& fp8Values(DType type)
{
    return type == DType::E4m3 ? kE4m3Values : kE5m2Values;
}

}  // namespace fp8scope
