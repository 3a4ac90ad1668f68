// SPDX-License-Identifier: Apache-2.0
// The conversions against the plain definitions of fp8_reference.h: every code, every bf16, every tie.
#include "fp8_reference.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

namespace fp8scope {
namespace {

using test::largestFiniteCode;
using test::nearestCode;
using test::valueOfCode;

// Usable in constant expressions, with the values that NVIDIA's header gives.
static_assert(encodeFp8(464.0F, DType::E4m3) == 0x7e);
static_assert(encodeFp8(465.0F, DType::E4m3) == 0x7e);
static_assert(encodeFp8(61440.0F, DType::E5m2) == 0x7b);
static_assert(decodeFp8(0x01, DType::E4m3) == 0.001953125F);
static_assert(encodeFp8(0.0009765625F, DType::E4m3) == 0x00, "half of the smallest code ties to even");

class Fp8Formats : public testing::TestWithParam<DType> {};

TEST_P(Fp8Formats, EveryFiniteCodeHasTheDefinedValueAndComesBack)
{
    for (unsigned code = 0; code <= largestFiniteCode(GetParam()); ++code) {
        const auto positive = static_cast<std::uint8_t>(code);
        const auto negative = static_cast<std::uint8_t>(code | 0x80U);
        EXPECT_EQ(decodeFp8(positive, GetParam()), valueOfCode(code, GetParam())) << code;
        EXPECT_EQ(decodeFp8(negative, GetParam()), -valueOfCode(code, GetParam())) << code;
        EXPECT_EQ(encodeFp8(decodeFp8(positive, GetParam()), GetParam()), positive);
        EXPECT_EQ(encodeFp8(decodeFp8(negative, GetParam()), GetParam()), negative);
    }
}

TEST_P(Fp8Formats, TheTableHoldsEveryCode)
{
    for (unsigned code = 0; code < 256; ++code) {
        const float value = decodeFp8(static_cast<std::uint8_t>(code), GetParam());
        EXPECT_EQ(std::bit_cast<std::uint32_t>(fp8Values(GetParam())[code]), std::bit_cast<std::uint32_t>(value))
            << code;
    }
}

TEST_P(Fp8Formats, EveryBf16IsRoundedToTheNearestCode)
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const float value = decodeBf16(static_cast<std::uint16_t>(bits));
        ASSERT_EQ(encodeFp8(value, GetParam()), nearestCode(value, GetParam()))
            << "bf16 bits " << bits << ", " << value;
    }
}

TEST_P(Fp8Formats, TiesGoToTheEvenCodeAndNeighboursToTheNearest)
{
    for (unsigned code = 0; code < largestFiniteCode(GetParam()); ++code) {
        const double middle = (valueOfCode(code, GetParam()) + valueOfCode(code + 1, GetParam())) / 2;
        const auto tie = static_cast<float>(middle);
        ASSERT_EQ(tie, middle);
        EXPECT_EQ(encodeFp8(tie, GetParam()), code % 2 == 0 ? code : code + 1);
        EXPECT_EQ(encodeFp8(std::nextafter(tie, 0.0F), GetParam()), code);
        EXPECT_EQ(encodeFp8(std::nextafter(tie, 1e9F), GetParam()), code + 1);
        EXPECT_EQ(encodeFp8(-tie, GetParam()), 0x80U | (code % 2 == 0 ? code : code + 1));
    }
}

TEST_P(Fp8Formats, RandomFloatsAreRoundedToTheNearestCode)
{
    std::mt19937 random(7);
    for (int i = 0; i < 200'000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        ASSERT_EQ(encodeFp8(value, GetParam()), nearestCode(value, GetParam())) << value;
    }
}

TEST_P(Fp8Formats, WhatIsTooLargeSaturatesAndNanStays)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto largest = static_cast<std::uint8_t>(largestFiniteCode(GetParam()));
    EXPECT_EQ(decodeFp8(largest, GetParam()), fp8Max(GetParam()));
    for (const float value :
         {fp8Max(GetParam()), fp8Max(GetParam()) * 1.5F, std::numeric_limits<float>::max(), kInfinity}) {
        EXPECT_EQ(encodeFp8(value, GetParam()), largest) << value;
        EXPECT_EQ(encodeFp8(-value, GetParam()), 0x80U | largest) << value;
    }
    EXPECT_EQ(encodeFp8(std::numeric_limits<float>::quiet_NaN(), GetParam()), 0x7f);
    EXPECT_EQ(encodeFp8(-std::numeric_limits<float>::quiet_NaN(), GetParam()), 0x7f);
    EXPECT_TRUE(std::isnan(decodeFp8(0x7f, GetParam())));
    EXPECT_TRUE(std::isnan(decodeFp8(0xff, GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Both, Fp8Formats, testing::Values(DType::E4m3, DType::E5m2),
                         [](const auto& test) { return std::string(toString(test.param)); });

TEST(Fp8Formats, OnlyE5m2HasInfinities)
{
    EXPECT_EQ(decodeFp8(0x7c, DType::E5m2), std::numeric_limits<float>::infinity());
    EXPECT_EQ(decodeFp8(0xfc, DType::E5m2), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(decodeFp8(0x7d, DType::E5m2)));
    EXPECT_EQ(decodeFp8(0x7c, DType::E4m3), 384.0F);
}

TEST(Bf16, EveryValueComesBack)
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const float value = decodeBf16(static_cast<std::uint16_t>(bits));
        ASSERT_EQ(encodeBf16(value), std::isnan(value) ? 0x7fffU : bits);
    }
}

TEST(Bf16, TiesGoToEven)
{
    EXPECT_EQ(encodeBf16(std::bit_cast<float>(0x3f808000U)), 0x3f80);  // between 0x3f80 and 0x3f81
    EXPECT_EQ(encodeBf16(std::bit_cast<float>(0x3f818000U)), 0x3f82);
    EXPECT_EQ(encodeBf16(std::bit_cast<float>(0x3f808001U)), 0x3f81);
    EXPECT_EQ(encodeBf16(std::bit_cast<float>(0x3f807fffU)), 0x3f80);
    EXPECT_EQ(encodeBf16(std::bit_cast<float>(0xbf818000U)), 0xbf82);
}

TEST(Bf16, LargeValuesBecomeInfinity)
{
    EXPECT_EQ(encodeBf16(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(encodeBf16(std::bit_cast<float>(0x7f7f7fffU)), 0x7f7f);
    EXPECT_EQ(encodeBf16(-std::numeric_limits<float>::infinity()), 0xff80);
}

TEST(Bf16, RandomFloatsAreRoundedToTheNearest)
{
    std::mt19937 random(11);
    for (int i = 0; i < 200'000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random());
        const auto value = std::bit_cast<float>(bits);
        const double below = decodeBf16(static_cast<std::uint16_t>(bits >> 16));
        const double above = decodeBf16(static_cast<std::uint16_t>((bits >> 16) + 1));
        if (!std::isfinite(above) || !std::isfinite(below))
            continue;
        const double rounded = decodeBf16(encodeBf16(value));
        ASSERT_LE(std::abs(rounded - value), std::min(std::abs(below - value), std::abs(above - value)));
    }
}

}  // namespace
}  // namespace fp8scope
