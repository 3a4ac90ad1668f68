// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/breakdown.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>

namespace fp8scope::analysis {
namespace {

std::int64_t exposedOf(const Exposure& exposure, std::uint32_t track, std::uint32_t index)
{
    for (const ExposedSlice& s : exposure.slices) {
        if (s.slice == SliceRef{TrackId(track), index})
            return s.exposedNs;
    }
    ADD_FAILURE() << "slice " << index << " of track " << track << " is missing";
    return -1;
}

std::int64_t total(const Exposure& exposure)
{
    return std::accumulate(exposure.slices.begin(), exposure.slices.end(), exposure.idleNs,
                           [](std::int64_t sum, const ExposedSlice& s) { return sum + s.exposedNs; });
}

TEST(ExposedTime, GemmHidesWhatRunsBesideIt)
{
    test::TraceBuilder builder;
    builder.run("fp8");
    builder.track("compute").slice(10, 50, "gemm", Role::Gemm, Precision::Fp8);
    builder.track("other").slice(0, 30, "cast", Role::Cast).slice(50, 40, "cast", Role::Cast);
    const Exposure exposure = exposedTime(builder.build(), RunId(0), 0, 100);
    EXPECT_EQ(exposedOf(exposure, 0, 0), 50);
    EXPECT_EQ(exposedOf(exposure, 1, 0), 10);  // 0..10
    EXPECT_EQ(exposedOf(exposure, 1, 1), 30);  // 60..90
    EXPECT_EQ(exposure.idleNs, 10);
}

TEST(ExposedTime, PriorityIsGemmComputeCommunicationCopy)
{
    test::TraceBuilder builder;
    builder.run("fp8");
    builder.track("a").slice(0, 100, "copy", Role::Memcpy);
    builder.track("b").slice(0, 80, "all_reduce", Role::Comm);
    builder.track("c").slice(0, 60, "relu", Role::Activation);
    builder.track("d").slice(0, 40, "gemm", Role::Gemm, Precision::Bf16);
    const Exposure exposure = exposedTime(builder.build(), RunId(0), 0, 100);
    EXPECT_EQ(exposedOf(exposure, 3, 0), 40);
    EXPECT_EQ(exposedOf(exposure, 2, 0), 20);
    EXPECT_EQ(exposedOf(exposure, 1, 0), 20);
    EXPECT_EQ(exposedOf(exposure, 0, 0), 20);
}

TEST(ExposedTime, AmongEqualsTheEarlierStartCounts)
{
    test::TraceBuilder builder;
    builder.run("fp8");
    builder.track("a").slice(20, 60, "late", Role::Cast);
    builder.track("b").slice(0, 50, "early", Role::Cast);
    const Exposure exposure = exposedTime(builder.build(), RunId(0), 0, 100);
    EXPECT_EQ(exposedOf(exposure, 1, 0), 50);
    EXPECT_EQ(exposedOf(exposure, 0, 0), 30);
}

TEST(ExposedTime, SynchronizationIsIdle)
{
    test::TraceBuilder builder;
    builder.run("fp8").track("a").slice(0, 60, "sync", Role::Sync).slice(60, 20, "relu", Role::Activation);
    const Exposure exposure = exposedTime(builder.build(), RunId(0), 0, 100);
    EXPECT_EQ(exposure.idleNs, 80);
    ASSERT_EQ(exposure.gaps.size(), 2U);
    EXPECT_EQ(exposure.gaps[0].endNs, 60);
    EXPECT_EQ(exposure.gaps[1].startNs, 80);
}

TEST(ExposedTime, SlicesAreCutAtTheRange)
{
    test::TraceBuilder builder;
    builder.run("fp8").track("a").slice(0, 100, "relu", Role::Activation);
    const Exposure exposure = exposedTime(builder.build(), RunId(0), 40, 70);
    ASSERT_EQ(exposure.slices.size(), 1U);
    EXPECT_EQ(exposure.slices[0].busyNs, 30);
    EXPECT_EQ(exposure.slices[0].exposedNs, 30);
}

TEST(ExposedTime, ALongSliceBeforeManyShortOnesStillReachesIn)
{
    test::TraceBuilder builder;
    builder.run("fp8").track("a").slice(0, 1000, "long", Role::Comm);
    for (int i = 0; i < 50; ++i)
        builder.slice(10 * i, 5, "short", Role::Cast);
    const Exposure exposure = exposedTime(builder.build(), RunId(0), 600, 700);
    EXPECT_EQ(exposedOf(exposure, 0, 0), 100);
    EXPECT_EQ(exposure.slices.size(), 1U);
}

TEST(ExposedTime, OtherRunsAndCpuThreadsDoNotCount)
{
    test::TraceBuilder builder;
    builder.run("bf16").track("gpu").slice(0, 100, "gemm", Role::Gemm, Precision::Bf16);
    builder.run("fp8");
    builder.track("cpu", TrackKind::CpuThread).slice(0, 100, "launch");
    builder.track("gpu").slice(0, 10, "gemm", Role::Gemm, Precision::Fp8);
    const Exposure exposure = exposedTime(builder.build(), RunId(1), 0, 100);
    EXPECT_EQ(exposure.slices.size(), 1U);
    EXPECT_EQ(exposure.idleNs, 90);
}

TEST(ExposedTime, AnEmptyRangeHoldsNothing)
{
    test::TraceBuilder builder;
    builder.run("fp8").track("a").slice(0, 100, "relu", Role::Activation);
    EXPECT_TRUE(exposedTime(builder.build(), RunId(0), 50, 50).slices.empty());
}

/// The definition, instant by instant.
std::map<SliceRef, std::int64_t> reference(const Trace& trace, std::int64_t start, std::int64_t end)
{
    const auto priority = [](Family f) {
        switch (f) {
        case Family::GemmFp8:
        case Family::Gemm16:
        case Family::GemmOther: return 0;
        case Family::Communication: return 2;
        case Family::MemoryOps: return 3;
        case Family::Idle: return 4;
        default: return 1;
        }
    };
    std::map<SliceRef, std::int64_t> exposed;
    for (std::int64_t t = start; t < end; ++t) {
        std::tuple<int, std::int64_t, SliceRef> best{4, 0, {}};
        for (std::uint32_t track = 0; track < trace.tracks.size(); ++track) {
            const SliceColumns& s = trace.tracks[track].slices;
            for (std::uint32_t i = 0; i < s.size(); ++i) {
                if (s.startNs[i] <= t && t < s.endNs(i))
                    best = std::min(best, std::tuple{priority(familyOfSlice(trace, trace.tracks[track], i)),
                                                     s.startNs[i], SliceRef{TrackId(track), i}});
            }
        }
        if (std::get<0>(best) < 4)
            ++exposed[std::get<2>(best)];
    }
    return exposed;
}

Trace randomTrace(std::mt19937& random, int tracks, int slicesEach)
{
    constexpr std::array kRoles{Role::Gemm, Role::Cast, Role::Comm, Role::Memcpy, Role::Sync, Role::Other, Role::Bias};
    std::uniform_int_distribution<std::int64_t> start(0, 300), length(0, 60);
    std::uniform_int_distribution<std::size_t> role(0, kRoles.size() - 1);
    test::TraceBuilder builder;
    builder.run("fp8");
    for (int t = 0; t < tracks; ++t) {
        builder.track("queue");
        for (int i = 0; i < slicesEach; ++i) {
            const Role r = kRoles[role(random)];
            builder.slice(start(random), length(random), std::string(toString(r)), r, Precision::Fp8);
        }
    }
    return builder.build();
}

TEST(ExposedTimeProperty, EqualsTheDefinitionOnRandomOverlaps)
{
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        const Trace trace = randomTrace(random, 1 + round % 4, 12);
        const std::int64_t start = round % 3 == 0 ? 0 : 70;
        const std::int64_t end = round % 2 == 0 ? 400 : 220;
        const Exposure exposure = exposedTime(trace, RunId(0), start, end);
        const auto expected = reference(trace, start, end);
        EXPECT_EQ(total(exposure), end - start);
        for (const ExposedSlice& s : exposure.slices) {
            const auto found = expected.find(s.slice);
            EXPECT_EQ(s.exposedNs, found == expected.end() ? 0 : found->second) << "round " << round;
            EXPECT_LE(s.exposedNs, s.busyNs);
        }
        EXPECT_EQ(std::accumulate(exposure.gaps.begin(), exposure.gaps.end(), std::int64_t{0},
                                  [](std::int64_t sum, const Gap& gap) { return sum + gap.endNs - gap.startNs; }),
                  exposure.idleNs);
    }
}

TEST(Apportion, PartsAddUpAndFollowTheWeights)
{
    EXPECT_EQ(apportion(10, std::vector<std::int64_t>{1, 1, 1}), (std::vector<std::int64_t>{4, 3, 3}));
    EXPECT_EQ(apportion(100, std::vector<std::int64_t>{50, 0, 150}), (std::vector<std::int64_t>{25, 0, 75}));
}

TEST(Apportion, WithoutWeightsTheLastPartTakesAll)
{
    EXPECT_EQ(apportion(7, std::vector<std::int64_t>{0, 0}), (std::vector<std::int64_t>{0, 7}));
    EXPECT_TRUE(apportion(7, std::vector<std::int64_t>{}).empty());
}

TEST(ApportionProperty, AddsUpExactlyAndIsOffByLessThanOne)
{
    std::mt19937_64 random(3);
    for (int round = 0; round < 500; ++round) {
        // Up to an hour against an hour: the product needs more than 64 bits.
        std::uniform_int_distribution<std::int64_t> value(0, 3'600'000'000'000);
        std::vector<std::int64_t> weights(static_cast<std::size_t>(1 + round % 40));
        for (std::int64_t& w : weights)
            w = round % 5 == 0 ? value(random) % 3 : value(random);
        const std::int64_t wanted = value(random);
        const std::vector<std::int64_t> parts = apportion(wanted, weights);
        const auto sum = [](const std::vector<std::int64_t>& v) {
            return std::accumulate(v.begin(), v.end(), std::int64_t{0});
        };
        EXPECT_EQ(sum(parts), wanted);
        for (std::size_t i = 0; sum(weights) > 0 && i < parts.size(); ++i) {
            const long double exact = static_cast<long double>(wanted) * static_cast<long double>(weights[i]) /
                                      static_cast<long double>(sum(weights));
            EXPECT_NEAR(static_cast<double>(static_cast<long double>(parts[i]) - exact), 0, 1.0);
        }
    }
}

}  // namespace
}  // namespace fp8scope::analysis
