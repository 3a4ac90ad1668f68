// SPDX-License-Identifier: Apache-2.0
// Scales of blocks, with values worked out by hand: Transformer Engine's fp32 scales and the e8m0 scales of mxfp8.
#include "engine/numerics/block_scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fp8scope {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(BlockScale, DividesTheFormatsMaximumByAmaxOnce)
{
    EXPECT_EQ(blockScale(3, DType::E4m3, 0, false), 448.0F / 3.0F);
    EXPECT_EQ(blockScale(2, DType::E5m2, 0, false), 28672.0F);
    EXPECT_EQ(blockScale(3, DType::E4m3, 0, true), 128.0F);   // 149.3 rounded down
    EXPECT_EQ(blockScale(7, DType::E4m3, 0, true), 64.0F);    // 64 exactly
    EXPECT_EQ(blockScale(2, DType::E4m3, 4, false), 112.0F);  // the least amax
}

TEST(BlockScale, WithoutAUsableAmaxItIsOne)
{
    for (const float amax : {0.0F, kInfinity, kNan})
        EXPECT_EQ(blockScale(amax, DType::E4m3, 0, true), 1.0F) << amax;
}

TEST(BlockScale, AnOverflowingScaleBecomesTheLargestBf16)
{
    EXPECT_EQ(blockScale(0x1p-133F, DType::E4m3, 0, false), 0x1.fep127F);
    EXPECT_EQ(blockScale(0x1p-133F, DType::E4m3, 0, true), 0x1p127F);
}

std::uint8_t rceil(float amax, DType format = DType::E4m3) { return e8m0FromAmax(amax, format, E8m0Rounding::Rceil); }
std::uint8_t ocpFloor(float amax, DType format = DType::E4m3)
{
    return e8m0FromAmax(amax, format, E8m0Rounding::Floor);
}

TEST(E8m0Scale, RceilIsTheLeastPowerOfTwoWithoutSaturation)
{
    EXPECT_EQ(rceil(448), 127);  // 1: exactly
    EXPECT_EQ(rceil(449), 128);  // 1.002 rounded up to 2
    EXPECT_EQ(rceil(447), 127);  // 0.998 rounded up to 1
    EXPECT_EQ(rceil(1), 119);    // 1/448 rounded up to 1/256
    EXPECT_EQ(rceil(57344, DType::E5m2), 127);
    for (float amax = 0x1p-100F; amax < 0x1p120F; amax *= 1.37F) {
        const float scaled = amax * scaleOfE8m0(rceil(amax));
        EXPECT_LE(scaled, 448.0F) << amax;
        EXPECT_GT(scaled, 224.0F) << amax;
    }
}

TEST(E8m0Scale, FloorKeepsTheExponentAndMaySaturate)
{
    EXPECT_EQ(ocpFloor(256), 127);
    EXPECT_EQ(ocpFloor(511), 127);  // saturates at 448
    EXPECT_EQ(ocpFloor(512), 128);
    EXPECT_EQ(ocpFloor(1), 119);
    EXPECT_EQ(ocpFloor(32768, DType::E5m2), 127);
    for (float amax = 0x1p-100F; amax < 0x1p120F; amax *= 1.37F) {
        const float scaled = amax * scaleOfE8m0(ocpFloor(amax));
        EXPECT_LT(scaled, 512.0F) << amax;
        EXPECT_GE(scaled, 256.0F) << amax;
    }
}

TEST(E8m0Scale, EndsOfTheRange)
{
    EXPECT_EQ(rceil(0), 0);
    EXPECT_EQ(rceil(0x1p-133F), 0);
    EXPECT_EQ(ocpFloor(0), 0);
    EXPECT_EQ(rceil(kInfinity), 254);
    EXPECT_EQ(rceil(kNan), 255);
    EXPECT_EQ(ocpFloor(kNan), 255);
    EXPECT_EQ(rceil(0x1.fep127F), 247);  // 2^128 / 448 rounded up to 2^120
}

TEST(E8m0Scale, CodesArePowersOfTwoAndTheirReciprocals)
{
    EXPECT_EQ(decodeE8m0(0), 0x1p-127F);
    EXPECT_EQ(decodeE8m0(127), 1.0F);
    EXPECT_EQ(decodeE8m0(254), 0x1p127F);
    EXPECT_TRUE(std::isnan(decodeE8m0(255)));
    for (int code = 0; code < 255; ++code)
        EXPECT_EQ(decodeE8m0(static_cast<std::uint8_t>(code)) * scaleOfE8m0(static_cast<std::uint8_t>(code)), 1.0F)
            << code;
    EXPECT_TRUE(std::isnan(scaleOfE8m0(255)));
}

}  // namespace
}  // namespace fp8scope
