// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/ablation.h"

#include "app/analysis/overview.h"
#include "engine/plan/ablation.h"
#include "engine/plan/config.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace fp8scope::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What each fusion is made to save of a 100 us step of plain fp8; bf16 takes 80 us.
const std::map<std::string_view, double> kSavings{{"bias_epilogue", 5'000},
                                                  {"cast_chain", 20'000},
                                                  {"cast_transpose", 10'000},
                                                  {"dbias_cast_transpose", 0},
                                                  {"act_cast", 2'000}};

double plantedNs(const plan::ModeSettings& settings)
{
    if (!settings.fp8)
        return 80'000;
    double ns = 100'000;
    for (const plan::FusionSwitch& fusion : plan::fusionSwitches()) {
        const auto saved = kSavings.find(fusion.name);
        ns -= settings.fusions.*fusion.member && saved != kSavings.end() ? saved->second : 0;
    }
    return ns;
}

/// A generated run of every mode of the ablation, `repeats` times, alternating; steps spread by 0.5%.
Trace ablatedTrace(int repeats, std::vector<std::string> modes = {})
{
    plan::MlpConfig config;
    config.widths = {64, 96, 32};
    config.batch = 32;
    std::string skipped;
    if (modes.empty()) {
        const plan::AblationModes planned = plan::ablationModes(config);
        modes = planned.modes;
        for (const auto& [fusion, reason] : planned.skipped)
            skipped += (skipped.empty() ? "" : "; ") + fusion + ": " + reason;
    }
    config.modes = modes;
    std::mt19937_64 random(1);
    std::normal_distribution<double> jitter(1, 0.005);
    test::TraceBuilder builder;
    std::int64_t now = 0;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        for (std::size_t m = 0; m < modes.size(); ++m) {
            const std::string& mode = modes[repeat % 2 == 0 ? m : modes.size() - 1 - m];
            builder.run(mode).config(plan::toToml(config)).track("queue");
            for (std::uint32_t i = 0; i < 20; ++i) {
                const auto ns = std::llround(plantedNs(plan::settingsFor(config, mode)) * jitter(random));
                builder.step(i, now, ns);
                now += ns;
            }
        }
    }
    Trace trace = builder.build();
    trace.meta[kAblationSkippedKey] = skipped;
    return trace;
}

const AblationLink& linkOf(const Ablation& ablation, std::string_view fusion)
{
    const auto found = std::find_if(ablation.chain.begin(), ablation.chain.end(),
                                    [&](const AblationLink& link) { return link.fusion == fusion; });
    EXPECT_NE(found, ablation.chain.end()) << fusion;
    return *found;
}

TEST(AblationTest, EachLinkBuysWhatWasPlanted)
{
    const auto result = ablation(ablatedTrace(3));
    ASSERT_TRUE(result);
    for (const auto& [fusion, saved] : kSavings) {
        const StepDifference& d = linkOf(*result, fusion).difference;
        EXPECT_NEAR(d.deltaNs, -saved, 500) << fusion;
        EXPECT_LE(d.interval.low, -saved + 300) << fusion;
        EXPECT_GE(d.interval.high, -saved - 300) << fusion;
        EXPECT_EQ(d.withinNoise(), saved == 0) << fusion;
    }
}

TEST(AblationTest, TheChainBeginsAtPlainFp8AndEndsWithAllFusions)
{
    const auto result = ablation(ablatedTrace(2));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->plain.mode, "fp8");
    EXPECT_EQ(result->plain.repeats, 2U);
    EXPECT_EQ(result->last().mode, "fp8-fused");
    EXPECT_NEAR(static_cast<double>(result->last().stepNs), 63'000, 500);
    ASSERT_TRUE(result->fp8Against16);
    EXPECT_NEAR(result->fp8Against16->deltaNs, 20'000, 500);
}

TEST(AblationTest, AFusionAloneIsMeasuredAgainstWhatItNeeds)
{
    const auto result = ablation(ablatedTrace(2));
    ASSERT_TRUE(result);
    const AblationLink& link = linkOf(*result, "cast_transpose");
    EXPECT_THAT(link.needs, ElementsAre("cast_chain"));
    ASSERT_TRUE(link.alone);
    EXPECT_NEAR(link.alone->deltaNs, -10'000, 500);
    EXPECT_THAT(linkOf(*result, "cast_chain").needs, IsEmpty());
}

TEST(AblationTest, AsAWaterfallTheBarsAddUpExactly)
{
    const Trace trace = ablatedTrace(2);
    const Overview o = overview(trace);
    ASSERT_TRUE(o.ablationAccount);
    std::int64_t level = o.ablationAccount->fromNs;
    for (const AccountBar& bar : o.ablationAccount->bars)
        level += bar.deltaNs;
    EXPECT_EQ(level, o.ablationAccount->toNs);
    EXPECT_THAT(o.ablationAccount->bars.at(0).explanation, HasSubstr("alone"));
}

TEST(AblationTest, TheOtherPagesShowTheModesAndNotTheVariants)
{
    const Overview o = overview(ablatedTrace(2));
    std::vector<std::string> modes;
    for (const Breakdown& run : o.runs)
        modes.push_back(run.mode);
    EXPECT_THAT(modes, ElementsAre("bf16", "fp8", "fp8-fused"));
}

TEST(AblationTest, WhatACancelLeftIsShown)
{
    const auto result = ablation(ablatedTrace(1, {"bf16", "fp8", "fp8+bias_epilogue"}));
    ASSERT_TRUE(result);
    ASSERT_EQ(result->chain.size(), 1U);
    EXPECT_EQ(result->chain[0].fusion, "bias_epilogue");
}

TEST(AblationTest, ModesAloneAreNoAblation)
{
    EXPECT_FALSE(ablation(ablatedTrace(1, {"bf16", "fp8"})));
    EXPECT_FALSE(ablation(ablatedTrace(1, {"bf16", "fp8", "fp8-fused"}))) << "all at once tells of none";
}

TEST(AblationTest, AConfigurationThatIsNotUnderstoodTakesNoPart)
{
    Trace trace = ablatedTrace(1);
    for (auto& run : trace.runs)
        run.configToml = "of_another = 'version'\n";
    EXPECT_FALSE(ablation(trace));
}

}  // namespace
}  // namespace fp8scope::analysis
