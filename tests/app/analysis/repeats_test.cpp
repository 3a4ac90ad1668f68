// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/repeats.h"

#include "app/analysis/breakdown.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <random>

namespace fp8scope::analysis {
namespace {

using ::testing::ElementsAre;

/// Modes in the order in which they ran, each with its step time; 20 steps with a spread of 1%.
struct Planted {
    std::string_view mode;
    std::int64_t stepNs;
};
Trace traceOf(const std::vector<Planted>& runs, double spread = 0.01)
{
    std::mt19937_64 random(1);
    std::normal_distribution<double> jitter(0, spread);
    test::TraceBuilder builder;
    std::int64_t now = 0;
    for (const Planted& planted : runs) {
        builder.run(planted.mode).config("batch = 1\n").track("queue");
        for (std::uint32_t i = 0; i < 20; ++i) {
            const auto ns = std::llround(static_cast<double>(planted.stepNs) * (1 + jitter(random)));
            builder.slice(now, ns / 2, "gemm", Role::Gemm).step(i, now, ns);
            now += ns;
        }
    }
    return builder.build();
}

std::vector<std::string> modesOf(const std::vector<RunGroup>& groups)
{
    std::vector<std::string> modes;
    for (const RunGroup& group : groups)
        modes.push_back(group.mode);
    return modes;
}

TEST(Repeats, OfOneModeAndConfigurationAreOneGroup)
{
    const Trace trace = traceOf({{"bf16", 100'000}, {"fp8", 90'000}, {"fp8", 92'000}, {"bf16", 101'000}});
    const auto groups = runGroups(trace);
    EXPECT_THAT(modesOf(groups), ElementsAre("bf16", "fp8"));
    EXPECT_THAT(groups[0].runs, ElementsAre(RunId(0), RunId(3)));
    EXPECT_THAT(groups[1].runs, ElementsAre(RunId(1), RunId(2)));
    EXPECT_EQ(groups[0].steps.repeats, 2U);
    EXPECT_EQ(groups[0].steps.stepsOfAllRepeats, 40U);
}

TEST(Repeats, AnotherConfigurationIsAnotherGroup)
{
    Trace trace = traceOf({{"fp8", 100'000}, {"fp8", 100'000}});
    trace.runs[1].configToml = "batch = 2\n";
    EXPECT_EQ(runGroups(trace).size(), 2U);
}

TEST(Repeats, ImportedRunsStandAlone)
{
    Trace trace = traceOf({{"torch", 100'000}, {"torch", 100'000}});
    for (auto& run : trace.runs)
        run.configToml.clear();
    EXPECT_EQ(runGroups(trace).size(), 2U);
}

TEST(Repeats, TheMedianIsOfAllAndTheTypicalRunStandsForThem)
{
    const Trace trace = traceOf({{"fp8", 90'000}, {"fp8", 100'000}, {"fp8", 120'000}});
    const RunGroup group = runGroups(trace).at(0);
    EXPECT_EQ(group.steps.run, RunId(1));
    EXPECT_NEAR(static_cast<double>(group.steps.medianNs), 100'000, 1'000);
    EXPECT_LT(group.steps.interval.low, 92'000) << "a run drawn three times is a possible world";
    EXPECT_GT(group.steps.interval.high, 118'000);
}

TEST(Repeats, ASingleRunKeepsItsOwnInterval)
{
    const Trace trace = traceOf({{"fp8", 100'000}});
    const RunGroup group = runGroups(trace).at(0);
    EXPECT_EQ(group.steps.repeats, 1U);
    EXPECT_EQ(group.steps.interval.low, summarizeSteps(trace, RunId(0)).interval.low);
}

TEST(Repeats, BreakdownsHaveOneRowAModeAndAddUpToTheMedianOfAll)
{
    const Trace trace = traceOf({{"bf16", 100'000}, {"fp8", 90'000}, {"fp8", 98'000}, {"bf16", 104'000}});
    const auto all = breakdowns(trace);
    ASSERT_EQ(all.size(), 2U);
    for (const Breakdown& b : all) {
        std::int64_t sum = 0;
        for (const TimePair& family : b.families)
            sum += family.exposedNs;
        EXPECT_EQ(sum, b.stepNs);
        EXPECT_EQ(b.stepNs, b.steps.medianNs);
    }
    EXPECT_NEAR(static_cast<double>(all[0].stepNs), 102'000, 1'000);
}

TEST(Repeats, ADriftOfTheMachineCancelsBetweenNeighbours)
{
    // The machine slows down by 10% over the file; fp8 is 5% faster than bf16 at every moment.
    const Trace trace = traceOf(
        {{"bf16", 100'000}, {"fp8", 95'000}, {"fp8", 99'750}, {"bf16", 105'000}, {"bf16", 110'000}, {"fp8", 104'500}});
    const auto groups = runGroups(trace);
    const StepDifference difference = stepDifference(groups[0], groups[1]);
    EXPECT_NEAR(difference.deltaNs, -5'250, 1'000);
    EXPECT_LT(difference.interval.high, 0);
    EXPECT_FALSE(difference.withinNoise());
    EXPECT_LT(groups[0].steps.interval.low, groups[1].steps.interval.high) << "unpaired, the two would overlap";
}

TEST(Repeats, ADifferenceSmallerThanTheNoiseIsSaidToBe)
{
    const Trace trace = traceOf({{"bf16", 100'000}, {"fp8", 100'200}, {"fp8", 99'700}, {"bf16", 100'300}}, 0.02);
    const auto groups = runGroups(trace);
    EXPECT_TRUE(stepDifference(groups[0], groups[1]).withinNoise());
}

TEST(Repeats, TheSameTraceGivesTheSameInterval)
{
    const Trace trace = traceOf({{"bf16", 100'000}, {"fp8", 90'000}, {"fp8", 98'000}, {"bf16", 104'000}});
    const StepDifference once = stepDifference(runGroups(trace)[0], runGroups(trace)[1]);
    const StepDifference again = stepDifference(runGroups(trace)[0], runGroups(trace)[1]);
    EXPECT_EQ(once.interval.low, again.interval.low);
    EXPECT_EQ(once.interval.high, again.interval.high);
}

TEST(Repeats, BootstrapCoversTheTruthAboutAsOftenAsItSays)
{
    std::mt19937_64 random(7);
    std::normal_distribution<double> ofRun(0, 0.02), ofStep(0, 0.02);
    int covered = 0;
    for (int round = 0; round < 100; ++round) {
        std::vector<Durations> repeats(6);
        for (Durations& repeat : repeats) {
            const double shift = ofRun(random);
            for (int i = 0; i < 20; ++i)
                repeat.push_back(std::llround(1e6 * (1 + shift + ofStep(random))));
        }
        const Estimate estimate = bootstrapMedian(repeats);
        covered += estimate.interval.low <= 1e6 && estimate.interval.high >= 1e6 ? 1 : 0;
    }
    EXPECT_GE(covered, 85) << "of 100; the bootstrap of six runs is known to be a little narrow";
}

TEST(Repeats, AFewVariantsAreShownBesideTheModesAndACrowdIsNot)
{
    const Trace few = traceOf({{"bf16", 100}, {"fp8", 90}, {"fp8+cast_chain", 80}});
    EXPECT_EQ(breakdowns(few).size(), 3U);
    const Trace crowd = traceOf({{"bf16", 100}, {"fp8", 90}, {"fp8+a", 80}, {"fp8+b", 80}, {"fp8-fused", 70}});
    EXPECT_EQ(breakdowns(crowd).size(), 3U);
}

}  // namespace
}  // namespace fp8scope::analysis
