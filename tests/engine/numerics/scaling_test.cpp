// SPDX-License-Identifier: Apache-2.0
// The scaling formulas, with values worked out by hand, and the delayed recipe's history.
#include "engine/numerics/quantization.h"
#include "engine/numerics/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace fp8scope {
namespace {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TensorwiseScale, DividesTheFormatsMaximumByAmax)
{
    EXPECT_EQ(tensorwiseScale(448, DType::E4m3), 1.0F);
    EXPECT_EQ(tensorwiseScale(2, DType::E4m3), 224.0F);
    EXPECT_EQ(tensorwiseScale(2, DType::E5m2), 28672.0F);
    EXPECT_EQ(inverseScale(tensorwiseScale(2, DType::E4m3)), 1.0F / 224.0F);
}

TEST(TensorwiseScale, AnAllZeroTensorGetsAFiniteScale)
{
    EXPECT_EQ(tensorwiseScale(0, DType::E4m3), static_cast<float>(448e12));
    EXPECT_EQ(tensorwiseScale(1e-13F, DType::E4m3), static_cast<float>(448e12));
}

TEST(TensorwiseScale, MultipliesByTheReciprocalInF64AsTorchDoes)
{
    // Rounded once in f32, 448 / amax would be another float for some amax.
    const float amax = 3.1415927F;
    EXPECT_EQ(tensorwiseScale(amax, DType::E4m3), static_cast<float>(1.0 / static_cast<double>(amax) * 448.0));
    EXPECT_EQ(tensorwiseScale(kInfinity, DType::E4m3), 0.0F);
    EXPECT_TRUE(std::isnan(tensorwiseScale(kNan, DType::E4m3)));
}

TEST(DelayedScale, DividesTheFormatsMaximumByAmaxAndTheMargin)
{
    EXPECT_EQ(delayedScale(2, 1, DType::E4m3, 0), 224.0F);
    EXPECT_EQ(delayedScale(2, 1, DType::E4m3, 3), 28.0F);
    EXPECT_EQ(delayedScale(2, 1, DType::E4m3, -1), 448.0F);
    EXPECT_EQ(delayedScale(3, 1, DType::E5m2, 0), 57344.0F / 3.0F);
}

TEST(DelayedScale, KeepsTheOldScaleWithoutAUsableAmax)
{
    for (const float amax : {0.0F, kInfinity, kNan})
        EXPECT_EQ(delayedScale(amax, 5, DType::E4m3, 0), 5.0F) << amax;
}

TEST(DelayedScale, AnOverflowingScaleBecomesTheLargestFloat)
{
    EXPECT_EQ(delayedScale(1e-37F, 5, DType::E4m3, 0), std::numeric_limits<float>::max());
}

constexpr DelayedScaling kE4m3{.format = DType::E4m3};

TEST(DelayedHistory, NewAmaxGoesToTheEndAndSlotZeroIsCleared)
{
    std::vector<float> history{0, 1, 2, 3};
    EXPECT_EQ(rollDelayedHistory(7, history, 1, kE4m3), 64.0F);
    EXPECT_THAT(history, ElementsAre(0, 2, 3, 7));
}

TEST(DelayedHistory, TheEntryThatLeavesCountsOnceMore)
{
    // The 8 moves to slot 0: it still decides this scale and is then cleared.
    std::vector<float> history{0, 8, 1, 1};
    EXPECT_EQ(rollDelayedHistory(2, history, 1, kE4m3), 56.0F);
    EXPECT_THAT(history, ElementsAre(0, 1, 1, 2));
    EXPECT_EQ(rollDelayedHistory(2, history, 56, kE4m3), 224.0F);
}

TEST(DelayedHistory, ALengthOfNKeepsAnAmaxForNUpdates)
{
    std::vector<float> history(3, 0.0F);
    float scale = 1;
    std::vector<float> scales;
    for (const float amax : {4.0F, 1.0F, 1.0F, 1.0F})
        scales.push_back(scale = rollDelayedHistory(amax, history, scale, kE4m3));
    EXPECT_THAT(scales, ElementsAre(112, 112, 112, 448));
}

TEST(DelayedHistory, AZeroAmaxChangesNothing)
{
    std::vector<float> history{0, 1, 2};
    EXPECT_EQ(rollDelayedHistory(0, history, 9, kE4m3), 9.0F);
    EXPECT_THAT(history, ElementsAre(0, 1, 2));
}

TEST(DelayedHistory, ALengthOfOneUsesTheNewestAmax)
{
    std::vector<float> history{0};
    EXPECT_EQ(rollDelayedHistory(2, history, 9, kE4m3), 224.0F);
    EXPECT_THAT(history, ElementsAre(0));
}

TEST(DelayedHistory, AnInfiniteAmaxKeepsTheScaleUntilItHasLeft)
{
    std::vector<float> history{0, 0};
    EXPECT_EQ(rollDelayedHistory(kInfinity, history, 9, kE4m3), 9.0F);
    EXPECT_EQ(rollDelayedHistory(2, history, 9, kE4m3), 9.0F);
    EXPECT_EQ(rollDelayedHistory(2, history, 9, kE4m3), 224.0F);
}

TEST(DelayedHistory, TheMostRecentAmaxForgetsTheLargest)
{
    std::vector<float> history{0, 8, 1, 1};
    EXPECT_EQ(rollDelayedHistory(2, history, 1, {.algorithm = AmaxAlgorithm::MostRecent}), 224.0F);
    EXPECT_THAT(history, ElementsAre(0, 1, 1, 2));
}

TEST(PowerOfTwoScale, RoundsDown)
{
    EXPECT_EQ(powerOfTwoScale(1), 1.0F);
    EXPECT_EQ(powerOfTwoScale(224), 128.0F);
    EXPECT_EQ(powerOfTwoScale(0.3F), 0.25F);
    EXPECT_TRUE(std::isnan(powerOfTwoScale(kNan)));
}

TEST(Quantize, CountsWhatHappened)
{
    CastCounts counts;
    EXPECT_EQ(quantize(1, 2, DType::E4m3, counts), encodeFp8(2, DType::E4m3));
    EXPECT_EQ(counts, CastCounts{});
    EXPECT_EQ(quantize(448, 1, DType::E4m3, counts), 0x7e);  // the maximum itself is not saturated
    EXPECT_EQ(counts, CastCounts{});
    EXPECT_EQ(quantize(449, 1, DType::E4m3, counts), 0x7e);  // rounds to the maximum, but lay beyond it
    EXPECT_EQ(quantize(-kInfinity, 1, DType::E4m3, counts), 0xfe);
    EXPECT_EQ(counts, (CastCounts{.saturated = 2}));
    EXPECT_EQ(quantize(0.0009765625F, 1, DType::E4m3, counts), 0x00);
    EXPECT_EQ(quantize(-0.0F, 1, DType::E4m3, counts), 0x80);
    EXPECT_EQ(counts, (CastCounts{.saturated = 2, .underflowed = 1, .zeros = 1}));
    EXPECT_EQ(quantize(kNan, 1, DType::E4m3, counts), kFp8Nan);
    EXPECT_EQ(counts, (CastCounts{.saturated = 2, .underflowed = 1, .zeros = 1}));
}

TEST(MaxAmax, NanWins)
{
    EXPECT_EQ(maxAmax(1, 2), 2.0F);
    EXPECT_EQ(maxAmax(2, 1), 2.0F);
    EXPECT_TRUE(std::isnan(maxAmax(kNan, 2)));
    EXPECT_TRUE(std::isnan(maxAmax(2, kNan)));
}

}  // namespace
}  // namespace fp8scope
