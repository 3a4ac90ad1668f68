// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/account.h"
#include "tests/app/analysis/planted_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fmt/format.h>
#include <random>

namespace fp8scope::analysis {
namespace {

using test::PlantedMode;
using test::PlantedModel;
using test::TraceBuilder;

std::int64_t sumOfBars(const SpeedupAccount& a)
{
    std::int64_t sum = 0;
    for (const AccountBar& bar : a.bars)
        sum += bar.deltaNs;
    return sum;
}

std::vector<std::string> names(const SpeedupAccount& a)
{
    std::vector<std::string> all;
    for (const AccountBar& bar : a.bars)
        all.push_back(bar.name);
    return all;
}

SpeedupAccount accountOf(const Trace& trace)
{
    const std::vector<SpeedupAccount> all = accounts(trace, breakdowns(trace));
    EXPECT_EQ(all.size(), 1U);
    return all.at(0);
}

TEST(Account, IdealEfficiencyAndQuantizationOnAGpu)
{
    // bf16: GEMM 100, relu 20. fp8: GEMM 60 (ideal would be 50), casts 30, relu 20, gap 5.
    TraceBuilder builder;
    builder.device(Device{.name = "gpu", .kind = "gpu", .hasFp8 = true});
    builder.run("bf16").layer("fc", 64, 64).track("q");
    builder.opSlice(0, 100, {.layer = builder.layerId("fc"), .name = "gemm", .role = Role::Gemm, .aType = "bf16"});
    builder.slice(100, 20, "relu", Role::Activation).step(0, 0, 120);
    builder.run("fp8").layer("fc", 64, 64, "fp8").track("q");
    builder.slice(200, 30, "cast", Role::Cast);
    builder.opSlice(230, 60, {.layer = builder.layerId("fc"), .name = "gemm", .role = Role::Gemm, .aType = "e4m3"});
    builder.slice(290, 20, "relu", Role::Activation).step(0, 200, 115);
    const SpeedupAccount a = accountOf(builder.build());

    EXPECT_EQ(a.idealGemmRatio, 2);
    EXPECT_EQ(a.delta(bars::kIdealGemms), -50);
    EXPECT_EQ(a.delta(bars::kGemmEfficiency), 10);
    EXPECT_EQ(a.delta(bars::kQuantization), 30);
    EXPECT_EQ(a.delta(bars::kActivationNorm), 0);
    EXPECT_EQ(a.delta(bars::kLaunchGaps), 5);
    EXPECT_EQ(a.gemmDeltaNs(), -40);
    EXPECT_THAT(names(a), testing::ElementsAre("ideal fp8 GEMMs", "GEMM efficiency", "quantization",
                                               "activation and norm", "launch gaps"));
    EXPECT_EQ(a.fromNs + sumOfBars(a), a.toNs);
    EXPECT_DOUBLE_EQ(a.speedup, 120.0 / 115);
    EXPECT_DOUBLE_EQ(a.amdahlBound, 120.0 / 70);
    EXPECT_DOUBLE_EQ(a.quantizationPerFp8Gemm, 0.5);
    EXPECT_DOUBLE_EQ(a.breakEven, 100.0 / 60 - 1);
}

TEST(Account, LayersLeftInSixteenBitForgoTheirIdealGain)
{
    TraceBuilder builder;
    builder.device(Device{.name = "gpu", .kind = "gpu", .hasFp8 = true});
    for (const char* mode : {"bf16", "fp8"}) {
        const bool fp8 = std::string(mode) == "fp8";
        const std::int64_t start = fp8 ? 1000 : 0;
        builder.run(mode).layer("fc", 64, 64).layer("out", 64, 10).track("q");
        builder.opSlice(
            start, fp8 ? 50 : 100,
            {.layer = builder.layerId("fc"), .name = "fc", .role = Role::Gemm, .aType = fp8 ? "e4m3" : "bf16"});
        builder.opSlice(start + 100, fp8 ? 44 : 40,
                        {.layer = builder.layerId("out"), .name = "out", .role = Role::Gemm, .aType = "bf16"});
        builder.step(0, start, 140 + (fp8 ? 10 : 0));
    }
    const SpeedupAccount a = accountOf(builder.build());
    EXPECT_EQ(a.delta(bars::kIdealGemms), -70);           // half of 100 and half of 40
    EXPECT_EQ(a.delta(bars::kGemmEfficiency), 0);         // fc reached its ideal
    EXPECT_EQ(a.delta(bars::kLeftInSixteenBit), 20 + 4);  // out forgoes 20 and got 4 slower
    EXPECT_EQ(a.fromNs + sumOfBars(a), a.toNs);
}

TEST(Account, WithoutLayersSixteenBitGemmsOnBothSidesAreTheSame)
{
    TraceBuilder builder;
    builder.device(Device{.name = "gpu", .kind = "gpu", .hasFp8 = true});
    builder.run("bf16").track("q").slice(0, 100, "gemm", Role::Gemm, Precision::Bf16).step(0, 0, 100);
    builder.run("fp8")
        .track("q")
        .slice(200, 20, "gemm", Role::Gemm, Precision::Bf16)
        .slice(220, 45, "gemm8", Role::Gemm, Precision::Fp8);
    builder.step(0, 200, 65);
    const SpeedupAccount a = accountOf(builder.build());
    EXPECT_EQ(a.delta(bars::kIdealGemms), -50);
    EXPECT_EQ(a.delta(bars::kLeftInSixteenBit), 10);  // the 20 ns that stayed
    EXPECT_EQ(a.delta(bars::kGemmEfficiency), 5);     // 80 became 45 instead of 40
    EXPECT_EQ(a.fromNs + sumOfBars(a), a.toNs);
}

TEST(Account, ACpuPromisesNothing)
{
    const Trace trace =
        test::plantedTrace(test::cpuWithoutFp8(), {.fp8Ratio = 0.9}, {test::bf16Mode(), test::plainFp8Mode()});
    const SpeedupAccount a = accountOf(trace);
    EXPECT_EQ(a.idealGemmRatio, 1);
    EXPECT_EQ(a.amdahlBound, 1);
    EXPECT_THAT(names(a), testing::Not(testing::Contains("ideal fp8 GEMMs")));
    EXPECT_GT(a.delta(bars::kGemmEfficiency), 0);
    EXPECT_LT(a.breakEven, 0);
    for (const AccountBar& bar : a.bars) {
        if (bar.name == bars::kGemmEfficiency) {
            EXPECT_THAT(bar.explanation, testing::HasSubstr("no fp8 units"));
        }
    }
}

TEST(Account, TheRatioIsOfTheDevicesPeaks)
{
    Device device = test::h100();
    device.peakFp8 = 3 * device.peak16;
    TraceBuilder builder;
    builder.device(device).run("fp8").track("q").slice(0, 1, "k");
    EXPECT_DOUBLE_EQ(idealGemmRatio(builder.build(), RunId(0)), 3);
}

TEST(Account, EqualRunsAreWithinNoise)
{
    PlantedMode other = test::bf16Mode();
    other.name = "bf16 again";
    const Trace trace = test::plantedTrace(test::h100(), {}, {test::bf16Mode(), other});
    const SpeedupAccount a = accountOf(trace);
    EXPECT_TRUE(a.withinNoise);
    EXPECT_EQ(a.delta(bars::kIdealGemms), 0);  // no fp8 on either side, so nothing was promised
    EXPECT_EQ(sumOfBars(a), a.toNs - a.fromNs);
}

TEST(Account, TheFirstSixteenBitRunIsTheBaseline)
{
    const Trace trace =
        test::plantedTrace(test::h100(), {}, {test::plainFp8Mode(), test::bf16Mode(), test::fusedFp8Mode()});
    const std::vector<SpeedupAccount> all = accounts(trace, breakdowns(trace));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].fromMode, "bf16");
    EXPECT_EQ(all[0].toMode, "fp8");
    EXPECT_EQ(all[1].toMode, "fp8-fused");
    EXPECT_FALSE(all[1].withinNoise);
    EXPECT_LT(all[1].speedupInterval.low, all[1].speedup);
    EXPECT_GT(all[1].speedupInterval.high, all[1].speedup);
}

TEST(Account, NoneWithoutASixteenBitRun)
{
    const Trace trace = test::plantedTrace(test::h100(), {}, {test::plainFp8Mode(), test::fusedFp8Mode()});
    EXPECT_TRUE(accounts(trace, breakdowns(trace)).empty());
}

TEST(Account, OfTwoTraces)
{
    const Trace first = test::plantedTrace(test::h100(), {}, {test::bf16Mode()});
    const Trace second = test::plantedTrace(test::h100(), {}, {test::fusedFp8Mode()});
    const SpeedupAccount apart = account(first, breakdown(first, RunId(0)), second, breakdown(second, RunId(0)));
    const SpeedupAccount together =
        accountOf(test::plantedTrace(test::h100(), {}, {test::bf16Mode(), test::fusedFp8Mode()}));
    ASSERT_EQ(apart.bars.size(), together.bars.size());
    for (std::size_t i = 0; i < apart.bars.size(); ++i)
        EXPECT_EQ(apart.bars[i].deltaNs, together.bars[i].deltaNs) << apart.bars[i].name;
}

/// A run of random ops of all roles, some of layers, some in fp8, on overlapping queues.
void addRandomRun(TraceBuilder& builder, const std::string& mode, std::int64_t start, std::mt19937& random)
{
    builder.run(mode).layer("a", 16, 16).layer("b", 16, 16).layer("c", 16, 16);
    const std::array layers{builder.layerId("a"), builder.layerId("b"), builder.layerId("c"), LayerId::none()};
    const std::array<std::string, 4> types{"bf16", "e4m3", "f32", ""};
    for (int t = 0; t < 2; ++t) {
        builder.track("q");
        std::int64_t now = start;
        for (int i = 0; i < 60; ++i) {
            const auto role = random() % 2 == 0 ? Role::Gemm : static_cast<Role>(random() % kRoleCount);
            const std::int64_t dur = static_cast<std::int64_t>(random() % 2000);
            builder.opSlice(now, dur,
                            {.layer = layers[random() % 4],
                             .name = fmt::format("op{}", random() % 50),
                             .role = role,
                             .aType = mode == "bf16" ? "bf16" : types[random() % 4]});
            now += dur + static_cast<std::int64_t>(random() % 500) - 100;
        }
    }
    for (std::uint32_t s = 0; s < 5; ++s)
        builder.step(s, start + 15'000 * s, 10'000 + static_cast<std::int64_t>(random() % 5000));
}

TEST(AccountProperty, BarsAddUpToTheNanosecond)
{
    std::mt19937 random(5);
    for (int round = 0; round < 40; ++round) {
        TraceBuilder builder;
        builder.device(Device{.name = "gpu",
                              .kind = "gpu",
                              .peakFp8 = 1979.7,
                              .peak16 = round % 2 == 0 ? 0 : 701.3,
                              .hasFp8 = round % 3 != 0});
        addRandomRun(builder, "bf16", 0, random);
        addRandomRun(builder, "fp8", 1'000'000, random);
        const Trace trace = builder.build();
        const std::vector<Breakdown> runs = breakdowns(trace);
        for (const auto& [from, to] : {std::pair{0, 1}, {1, 0}, {0, 0}, {1, 1}}) {
            const SpeedupAccount a =
                account(trace, runs[static_cast<std::size_t>(from)], runs[static_cast<std::size_t>(to)]);
            EXPECT_EQ(a.fromNs + sumOfBars(a), a.toNs) << "round " << round;
        }
    }
}

}  // namespace
}  // namespace fp8scope::analysis
