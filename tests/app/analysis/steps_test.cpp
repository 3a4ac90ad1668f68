// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/steps.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

namespace fp8scope::analysis {
namespace {

Trace traceOf(const std::vector<std::int64_t>& durations, std::uint32_t declaredWarmup = 0)
{
    test::TraceBuilder builder;
    builder.run("bf16");
    std::int64_t now = 0;
    for (std::uint32_t i = 0; i < durations.size(); ++i) {
        builder.step(i, now, durations[i], 0, i < declaredWarmup);
        now += durations[i];
    }
    return builder.build();
}

StepSummary summaryOf(const std::vector<std::int64_t>& durations, std::uint32_t declaredWarmup = 0,
                      StepLimit limit = {})
{
    return summarizeSteps(traceOf(durations, declaredWarmup), RunId(0), limit);
}

TEST(Steps, MedianOfAnOddNumberIsTheMiddleOne) { EXPECT_EQ(summaryOf({30, 10, 20}).medianNs, 20); }

TEST(Steps, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) { EXPECT_EQ(summaryOf({40, 10, 20, 30}).medianNs, 25); }

TEST(Steps, WithoutStepsThereIsNoMedian)
{
    const StepSummary summary = summaryOf({});
    EXPECT_TRUE(summary.empty());
    EXPECT_EQ(summary.medianNs, 0);
}

TEST(Steps, DeclaredWarmupIsDropped)
{
    const StepSummary summary = summaryOf({900, 100, 100, 100}, 1);
    EXPECT_EQ(summary.warmupCount, 1U);
    EXPECT_EQ(summary.totalCount, 4U);
    EXPECT_EQ(summary.used.front().index, 1U);
}

TEST(Steps, FallingDurationsAtTheStartAreFoundToBeWarmup)
{
    const StepSummary summary = summaryOf({400, 200, 130, 100, 101, 99, 100, 100, 102, 100});
    EXPECT_EQ(summary.warmupCount, 3U);
    EXPECT_EQ(summary.medianNs, 100);
}

TEST(Steps, WarmupIsFoundBehindTheDeclaredOne)
{
    const StepSummary summary = summaryOf({900, 400, 200, 100, 101, 99, 100, 100, 102}, 1);
    EXPECT_EQ(summary.warmupCount, 3U);
}

TEST(Steps, ASlowStepInTheMiddleIsNotWarmup)
{
    const StepSummary summary = summaryOf({100, 101, 99, 300, 100, 100, 102, 100});
    EXPECT_EQ(summary.warmupCount, 0U);
    EXPECT_EQ(summary.used.size(), 8U);
}

TEST(Steps, NoisySettledStepsAreNotWarmup)
{
    EXPECT_EQ(summaryOf({110, 92, 105, 97, 108, 90, 112, 95, 103, 99}).warmupCount, 0U);
}

TEST(Steps, IntervalIsByOrderStatistics)
{
    // n = 10: P(Binomial(10, 1/2) <= 1) = 1.07% <= 2.5% < P(<= 2) = 5.5%, so the second smallest and second largest.
    const StepSummary summary = summaryOf({100, 101, 102, 103, 104, 105, 106, 107, 108, 109});
    EXPECT_EQ(summary.interval.low, 101);
    EXPECT_EQ(summary.interval.high, 108);
}

TEST(Steps, IntervalOfFewStepsIsTheirRange)
{
    const StepSummary summary = summaryOf({103, 100, 101, 104, 102});
    EXPECT_EQ(summary.interval.low, 100);
    EXPECT_EQ(summary.interval.high, 104);
}

TEST(Steps, IntervalOfManyStepsIsNarrow)
{
    std::vector<std::int64_t> durations(2000);
    for (std::size_t i = 0; i < durations.size(); ++i)
        durations[i] = 1000 + static_cast<std::int64_t>((i * 7919) % 101);
    const StepSummary summary = summaryOf(durations);
    EXPECT_LE(summary.interval.high - summary.interval.low, 7);  // 1.96 sqrt(2000)/2 ranks each way: 2.2% of 101 values
    EXPECT_LE(summary.interval.low, static_cast<double>(summary.medianNs));
    EXPECT_GE(summary.interval.high, static_cast<double>(summary.medianNs));
}

TEST(Steps, LimitIsInclusive)
{
    const StepSummary summary = summaryOf({100, 100, 100, 100, 100}, 0, {1, 3});
    ASSERT_EQ(summary.used.size(), 3U);
    EXPECT_EQ(summary.used.front().index, 1U);
    EXPECT_EQ(summary.used.back().index, 3U);
}

TEST(Steps, ALimitInsideTheWarmupGivesThoseSteps)
{
    const StepSummary summary = summaryOf({900, 500, 100, 100}, 2, {0, 0});
    ASSERT_EQ(summary.used.size(), 1U);
    EXPECT_EQ(summary.medianNs, 900);
}

TEST(Steps, StepsOfOtherRunsAreLeftAlone)
{
    test::TraceBuilder builder;
    builder.run("bf16").step(0, 0, 100).run("fp8").step(0, 100, 70);
    const Trace trace = builder.build();
    EXPECT_EQ(summarizeSteps(trace, RunId(1)).medianNs, 70);
}

}  // namespace
}  // namespace fp8scope::analysis
