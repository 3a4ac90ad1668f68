// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/warmup.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fp8scope::analysis {
namespace {

/// `n` steps of `ns` with a spread of 1%.
void append(std::vector<std::int64_t>& steps, int n, double ns, std::mt19937_64& random)
{
    std::normal_distribution<double> jitter(0, ns / 100);
    for (int i = 0; i < n; ++i)
        steps.push_back(static_cast<std::int64_t>(ns + jitter(random)));
}

TEST(Warmup, IsFoundToTheStepWhereTheTimeFalls)
{
    std::mt19937_64 random(1);
    std::vector<std::int64_t> steps;
    append(steps, 7, 110e6, random);
    append(steps, 33, 100e6, random);
    EXPECT_EQ(warmupSteps(steps), 7U);
}

TEST(Warmup, MayFallInSeveralSteps)
{
    std::mt19937_64 random(2);
    std::vector<std::int64_t> steps;
    append(steps, 2, 300e6, random);
    append(steps, 6, 106e6, random);
    append(steps, 32, 100e6, random);
    EXPECT_EQ(warmupSteps(steps), 8U);
}

TEST(Warmup, OneSlowFirstStepIsOne)
{
    EXPECT_EQ(warmupSteps(std::vector<std::int64_t>{900, 100, 101, 99, 100, 100, 102, 100, 99, 101}), 1U);
}

TEST(Warmup, AHiccupNearTheStartIsNone)
{
    EXPECT_EQ(warmupSteps(std::vector<std::int64_t>{100, 900, 101, 99, 100, 100, 102, 100, 99, 101}), 0U);
}

TEST(Warmup, StepsThatGetSlowerAreNone)
{
    std::mt19937_64 random(3);
    std::vector<std::int64_t> steps;
    append(steps, 10, 90e6, random);
    append(steps, 10, 100e6, random);
    EXPECT_EQ(warmupSteps(steps), 0U);
}

TEST(Warmup, IsAtMostHalf)
{
    std::mt19937_64 random(4);
    std::vector<std::int64_t> steps;
    append(steps, 15, 200e6, random);
    append(steps, 5, 100e6, random);
    EXPECT_LE(warmupSteps(steps), 10U);
}

TEST(Warmup, EqualStepsHaveNone) { EXPECT_EQ(warmupSteps(std::vector<std::int64_t>(1000, 5)), 0U); }

TEST(Warmup, NoiseAloneIsRarelyTakenForOne)
{
    std::mt19937_64 random(5);
    int found = 0;
    for (int round = 0; round < 400; ++round) {
        std::vector<std::int64_t> steps;
        append(steps, 20, 100e6, random);
        found += warmupSteps(steps) > 0 ? 1 : 0;
    }
    EXPECT_LE(found, 20) << "5%";
}

}  // namespace
}  // namespace fp8scope::analysis
