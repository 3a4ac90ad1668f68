// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/breakdown.h"
#include "tests/app/analysis/planted_run.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace fp8scope::analysis {
namespace {

using test::TraceBuilder;

std::int64_t sumOfFamilies(const Breakdown& b)
{
    return std::accumulate(b.families.begin(), b.families.end(), std::int64_t{0},
                           [](std::int64_t sum, const TimePair& t) { return sum + t.exposedNs; });
}

void expectEverySumIsTheStep(const Breakdown& b)
{
    EXPECT_EQ(sumOfFamilies(b), b.stepNs);
    std::int64_t layers = 0;
    std::array<std::int64_t, kFamilyCount> byFamily{};
    for (const LayerTime& layer : b.layers) {
        layers += layer.total();
        for (std::size_t f = 0; f < byFamily.size(); ++f)
            byFamily[f] += layer.family(static_cast<Family>(f));
    }
    EXPECT_EQ(layers, b.stepNs);
    for (std::size_t f = 0; f < byFamily.size(); ++f)
        EXPECT_EQ(byFamily[f], b.families[f].exposedNs) << toString(static_cast<Family>(f));
    const std::int64_t idle = b[Family::Idle].exposedNs;
    const auto exposed = [](std::int64_t sum, const auto& row) { return sum + row.exposedNs; };
    EXPECT_EQ(std::accumulate(b.kernels.begin(), b.kernels.end(), idle, exposed), b.stepNs);
    EXPECT_EQ(std::accumulate(b.ops.begin(), b.ops.end(), idle, exposed), b.stepNs);
    EXPECT_EQ(std::accumulate(b.roles.begin(), b.roles.end(), idle, exposed), b.stepNs);
    EXPECT_EQ(std::accumulate(b.phaseNs.begin(), b.phaseNs.end(), std::int64_t{0}), b.stepNs);
}

const KernelTime& kernel(const Trace& trace, const Breakdown& b, std::string_view name)
{
    const auto found = std::find_if(b.kernels.begin(), b.kernels.end(),
                                    [&](const KernelTime& k) { return trace.name(k.name).text == name; });
    if (found == b.kernels.end())
        throw std::runtime_error("no kernel " + std::string(name));
    return *found;
}

TEST(BreakdownTest, ASimpleStep)
{
    TraceBuilder builder;
    builder.run("fp8").layer("fc", 64, 32, "fp8").track("queue");
    const LayerId fc = builder.layerId("fc");
    builder.opSlice(
        0, 60,
        {.layer = fc, .name = "fc.gemm", .phase = Phase::Forward, .role = Role::Gemm, .aType = "e4m3", .flops = 6e6});
    builder.opSlice(60, 30,
                    {.layer = fc, .name = "fc.cast", .phase = Phase::Forward, .role = Role::Cast, .bytes = 300});
    builder.step(0, 0, 100);
    const Trace trace = builder.build();
    const Breakdown b = breakdown(trace, RunId(0));

    EXPECT_EQ(b.stepNs, 100);
    EXPECT_EQ(b[Family::GemmFp8].exposedNs, 60);
    EXPECT_EQ(b[Family::Quantization].exposedNs, 30);
    EXPECT_EQ(b[Family::Idle].exposedNs, 10);
    EXPECT_DOUBLE_EQ(b.quantizationTax, 0.3);
    EXPECT_DOUBLE_EQ(b.quantizationPerFp8Gemm, 0.5);
    EXPECT_DOUBLE_EQ(b.gemmFlopsPerSecond, 1e14);  // 6 MFLOP in 60 ns
    EXPECT_DOUBLE_EQ(b.stepFlops, 6e6);
    EXPECT_EQ(b.longestIdleNs, 10);
    EXPECT_EQ(b.launchesPerStep, 2U);
    EXPECT_DOUBLE_EQ(kernel(trace, b, "fc.cast").bytesPerSecond, 1e10);  // 300 B in 30 ns
    ASSERT_EQ(b.layers.size(), 2U);
    EXPECT_EQ(b.layers[0].layer, fc);
    EXPECT_EQ(b.layers[0].phase(Phase::Forward), 90);
    EXPECT_FALSE(b.layers[1].layer.valid());
    EXPECT_EQ(b.layers[1].total(), 10);
    EXPECT_EQ(b.phaseNs[static_cast<std::size_t>(Phase::Other)], 10);
    expectEverySumIsTheStep(b);
}

TEST(BreakdownTest, SharesOfTheMiddleStepsAreSpreadOverTheMedianStep)
{
    // Four steps of 100, 100, 120, 200 ns: the middle half are the second and third, 140 ns of cast in 220; median 110.
    TraceBuilder builder;
    builder.run("fp8").track("queue");
    std::int64_t now = 0;
    std::uint32_t index = 0;
    for (const auto& [step, cast] : {std::pair{100, 10}, {100, 60}, {120, 80}, {200, 200}}) {
        builder.slice(now, cast, "cast", Role::Cast).step(index++, now, step);
        now += step;
    }
    const Breakdown b = breakdown(builder.build(), RunId(0));
    EXPECT_EQ(b.stepNs, 110);
    EXPECT_EQ(b[Family::Quantization].exposedNs, 70);
    EXPECT_EQ(b[Family::Idle].exposedNs, 40);
}

TEST(BreakdownTest, OneNameOfSeveralOpsIsOneKernel)
{
    TraceBuilder builder;
    builder.run("fp8").layer("a", 16, 16).layer("b", 16, 16).track("queue");
    builder.opSlice(0, 10, {.layer = builder.layerId("a"), .name = "a.cast", .role = Role::Cast});
    builder.opSlice(10, 30, {.layer = builder.layerId("b"), .name = "b.cast", .role = Role::Cast});
    builder.step(0, 0, 40);
    Trace trace = builder.build();
    trace.tracks[0].slices.name[1] = trace.tracks[0].slices.name[0];  // as a GPU run records: one kernel, two ops
    const Breakdown b = breakdown(trace, RunId(0));
    ASSERT_EQ(b.kernels.size(), 1U);
    EXPECT_FALSE(b.kernels[0].op.valid());
    EXPECT_EQ(b.kernels[0].exposedNs, 40);
    EXPECT_DOUBLE_EQ(b.kernels[0].countPerStep, 2);
    EXPECT_EQ(b.kernels[0].minNs, 10);
    EXPECT_EQ(b.kernels[0].maxNs, 30);
    EXPECT_EQ(b.kernels[0].slowest, (SliceRef{TrackId(0), 1}));
    EXPECT_EQ(b.ops.size(), 2U);
    expectEverySumIsTheStep(b);
}

TEST(BreakdownTest, UnknownKernelsLowerTheClassifiedShare)
{
    TraceBuilder builder;
    builder.run("x")
        .track("queue")
        .slice(0, 25, "mystery")
        .slice(25, 75, "gemm", Role::Gemm, Precision::Bf16)
        .step(0, 0, 100);
    EXPECT_DOUBLE_EQ(breakdown(builder.build(), RunId(0)).classifiedShare, 0.75);
}

TEST(BreakdownTest, BusyTimeOfHiddenWorkStandsBesideItsExposedTime)
{
    TraceBuilder builder;
    builder.run("x");
    builder.track("compute").slice(0, 80, "gemm", Role::Gemm, Precision::Bf16);
    builder.track("comm").slice(10, 90, "all_reduce", Role::Comm);
    builder.step(0, 0, 100);
    const Breakdown b = breakdown(builder.build(), RunId(0));
    EXPECT_EQ(b[Family::Communication].exposedNs, 20);
    EXPECT_EQ(b[Family::Communication].busyNs, 90);
}

TEST(BreakdownTest, WithoutUsedStepsEverythingIsEmpty)
{
    TraceBuilder builder;
    builder.run("x").track("queue").slice(0, 25, "gemm", Role::Gemm).step(0, 0, 100, 0, true);
    const Breakdown b = breakdown(builder.build(), RunId(0));
    EXPECT_EQ(b.stepNs, 0);
    EXPECT_TRUE(b.kernels.empty());
    EXPECT_TRUE(b.layers.empty());
    EXPECT_EQ(sumOfFamilies(b), 0);
}

TEST(BreakdownProperty, EverySumIsTheStepOnRandomOverlaps)
{
    constexpr std::array kRoles{Role::Gemm, Role::Cast,  Role::Comm,    Role::Memcpy,
                                Role::Sync, Role::Other, Role::BiasGrad};
    std::mt19937 random(11);
    std::uniform_int_distribution<std::int64_t> length(0, 9000), gap(-4000, 3000);
    for (int round = 0; round < 25; ++round) {
        TraceBuilder builder;
        builder.run("fp8").layer("a", 16, 16).layer("b", 16, 16);
        const std::array layers{builder.layerId("a"), builder.layerId("b"), LayerId::none()};
        for (int t = 0; t < 3; ++t) {
            builder.track("queue");
            std::int64_t now = 0;
            for (std::size_t i = 0; i < 120; ++i) {
                const std::size_t pick = random() % kRoles.size();
                const Role role = kRoles[pick];
                const auto phase = static_cast<Phase>(random() % kPhaseCount);
                const std::int64_t dur = length(random);
                if (i % 3 == 0)
                    builder.slice(now, dur, "kernel" + std::to_string(pick), role, Precision::Fp8);
                else
                    builder.opSlice(now, dur,
                                    {.layer = layers[random() % 3],
                                     .name = fmt::format("op{}", random() % 40),
                                     .phase = phase,
                                     .role = role,
                                     .aType = "e4m3"});
                now = std::max<std::int64_t>(0, now + dur + gap(random));
            }
        }
        for (std::uint32_t s = 0; s < 9; ++s)
            builder.step(s, 1000 + 40'000 * s, 30'000 + static_cast<std::int64_t>(random() % 9000));
        expectEverySumIsTheStep(breakdown(builder.build(), RunId(0)));
    }
}

TEST(BreakdownProperty, PlantedRunsComeBackAsPlanted)
{
    const Trace trace = test::plantedTrace(test::h100(), {}, {test::plainFp8Mode()});
    const Breakdown b = breakdown(trace, RunId(0));
    expectEverySumIsTheStep(b);
    // 3 layers, forward, dgrad (not the first) and wgrad: 8 GEMMs of 2 * 16384 * 4096^2 at 1200 TFLOP/s.
    EXPECT_NEAR(static_cast<double>(b[Family::GemmFp8].exposedNs), 8 * 2.0 * 16384 * 4096 * 4096 / 1200e12 * 1e9, 20);
    EXPECT_NEAR(b.gemmFlopsPerSecond, 1200e12, 1e9);
    EXPECT_EQ(b[Family::Idle].exposedNs, 0);
    EXPECT_EQ(b[Family::Bias].exposedNs, b.roles[static_cast<std::size_t>(Role::Bias)].exposedNs +
                                             b.roles[static_cast<std::size_t>(Role::BiasGrad)].exposedNs);
}

}  // namespace
}  // namespace fp8scope::analysis
