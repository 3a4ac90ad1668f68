// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/overview.h"
#include "tests/app/analysis/planted_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::analysis {
namespace {

using test::PlantedModel;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Format, TimesHaveThreeSignificantDigits)
{
    EXPECT_EQ(formatTime(64'534'123), "64.5 ms");
    EXPECT_EQ(formatTime(100'000'000), "100 ms");
    EXPECT_EQ(formatTime(1'234'000'000), "1.23 s");
    EXPECT_EQ(formatTime(5'200), "5.20 µs");
    EXPECT_EQ(formatTime(999), "999 ns");
    EXPECT_EQ(formatTime(-2), "-2 ns");
    EXPECT_EQ(formatTime(0), "0 ns");
    EXPECT_EQ(formatTime(-14'000'000), "-14.0 ms");
    EXPECT_EQ(formatTime(100'000'000'000), "100 s");
    EXPECT_EQ(formatTime(4'321'000'000'000), "4321 s");
}

TEST(Format, RoundingNeverShowsAThousand)
{
    EXPECT_EQ(formatTime(999'949), "1.00 ms");
    EXPECT_EQ(formatTime(999'499), "999 µs");
    EXPECT_EQ(formatTime(9'999'000), "10.0 ms");
    EXPECT_EQ(formatTime(99'960'000), "100 ms");
}

TEST(Format, FixedUnits)
{
    EXPECT_EQ(formatTime(64'534'123, "ns"), "64534123 ns");
    EXPECT_EQ(formatTime(64'534'123, "us"), "64534.1 µs");
    EXPECT_EQ(formatTime(64'534'123, "ms"), "64.534 ms");
    EXPECT_EQ(formatTime(64'534'123, "s"), "0.064534 s");
    EXPECT_EQ(formatTime(64'534'123, "auto"), "64.5 ms");
}

TEST(Format, RatesBytesAndShares)
{
    EXPECT_EQ(formatFlops(1.2134e12), "1.21 TFLOP/s");
    EXPECT_EQ(formatBandwidth(8.5e9), "8.50 GB/s");
    EXPECT_EQ(formatBytes(1'900'000'000), "1.90 GB");
    EXPECT_EQ(formatBytes(512), "512 B");
    EXPECT_EQ(formatPercent(0.109), "10.9%");
}

std::string headlineOf(const Device& device, const PlantedModel& model, const std::vector<test::PlantedMode>& modes)
{
    return plainText(overview(test::plantedTrace(device, model, modes)).headline);
}

TEST(Headline, PlainFp8SlowerAndFusedFaster)
{
    const std::string text =
        headlineOf(test::h100(), {.batch = 4096}, {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
    EXPECT_THAT(
        text,
        MatchesRegex("Plain fp8 is .*× slower than bf16 here \\(.* ms against .* ms a step\\): its GEMMs save .*, but "
                     "quantization costs .* ms\\. Fused fp8 takes .* ms, .*× faster\\."));
}

TEST(Headline, Fp8Faster)
{
    const std::string text = headlineOf(test::h100(), {}, {test::bf16Mode(), test::fusedFp8Mode()});
    EXPECT_THAT(
        text,
        MatchesRegex(
            "Fused fp8 is .*× faster than bf16 \\(.*\\): its GEMMs save .* ms, and quantization gives .* back\\."));
}

TEST(Headline, Fp8NoFaster)
{
    // The planted slack makes the GEMMs' gain (8 GEMMs) equal to what quantization costs, within the noise of 2%.
    test::PlantedMode plain = test::plainFp8Mode();
    PlantedModel model;
    double low = 1e11, high = 1e13;
    for (int i = 0; i < 60; ++i) {
        model.bytesPerSecond = (low + high) / 2;
        const Trace trace = test::plantedTrace(test::h100(), model, {test::bf16Mode(), plain});
        const bool slower = breakdown(trace, RunId(1)).stepNs > breakdown(trace, RunId(0)).stepNs;
        (slower ? low : high) = model.bytesPerSecond;
    }
    EXPECT_THAT(
        headlineOf(test::h100(), model, {test::bf16Mode(), plain}),
        MatchesRegex(
            "fp8 is no faster than bf16 here \\(.* within noise\\): its GEMMs save .*, and quantization.* back\\."));
}

TEST(Headline, OneRunSaysWhereTheTimeGoes)
{
    EXPECT_THAT(headlineOf(test::h100(), {}, {test::bf16Mode()}),
                MatchesRegex("A bf16 step takes .*: .*% GEMM 16-bit, .*% .*, .*% .*\\."));
}

TEST(Headline, OnACpuFusionSaves)
{
    const PlantedModel model{.batch = 1024,
                             .widths = {1024, 1024, 1024},
                             .gemm16FlopsPerSecond = 2e11,
                             .fp8Ratio = 0.95,
                             .bytesPerSecond = 8e9};
    const Overview o = overview(test::plantedTrace(test::cpuWithoutFp8(), model,
                                                   {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()}));
    EXPECT_THAT(plainText(o.headline),
                MatchesRegex("Plain fp8 is .*× slower than bf16 here .*: its GEMMs take .* more, and quantization.* "
                             "costs? .*\\. Fused fp8 takes .*× slower: fusion saves .* ms\\."));
    EXPECT_EQ(plainText(o.note), "This CPU has no FP8 units: fp8 cannot be faster here; shown is what quantization "
                                 "costs and what fusion saves.");
}

TEST(Headline, NoStepsNoFigures)
{
    test::TraceBuilder builder;
    builder.run("fp8");
    const Overview o = overview(builder.build());
    EXPECT_THAT(plainText(o.headline), HasSubstr("No step after warm-up was finished"));
    EXPECT_TRUE(o.figures.empty());
    EXPECT_EQ(plainText(overview(Trace{}).headline), "This trace holds no run.");
}

const Figure& figure(const Overview& o, std::string_view label)
{
    const auto found =
        std::find_if(o.figures.begin(), o.figures.end(), [&](const Figure& f) { return f.label == label; });
    if (found == o.figures.end())
        throw std::runtime_error("no figure " + std::string(label));
    return *found;
}

TEST(Figures, AreOfTheFastestFp8Run)
{
    Trace trace = test::plantedTrace(test::h100(), {}, {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
    trace.memory = {{RunId(0), "weights", 1'600'000'000},
                    {RunId(2), "weights", 1'500'000'000},
                    {RunId(2), "fp8 copies", 400'000'000},
                    {RunId(2), "whole arena", 1'800'000'000}};  // less than the classes' peaks together
    const Overview o = overview(trace);
    EXPECT_EQ(figure(o, "Step, fp8-fused").value, formatTime(o.runs[2].stepNs));
    EXPECT_EQ(figure(o, "Speedup over bf16").value, fmt::format("{:.2f}×", o.accounts[1].speedup));
    EXPECT_EQ(figure(o, "Quantization tax").value, formatPercent(o.runs[2].quantizationTax));
    EXPECT_EQ(figure(o, "GEMM rate").value, "61%");  // planted: 1200 of 1979 TFLOP/s
    EXPECT_EQ(figure(o, "Idle in a step").value, "0.0%");
    EXPECT_EQ(figure(o, "Peak memory").value, "1.80 GB");
    EXPECT_EQ(figure(o, "Peak memory").detail, "bf16 1.60 GB");
    for (const Figure& f : o.figures)
        EXPECT_FALSE(f.howComputed.empty()) << f.label;
}

TEST(Figures, WithoutKnownPeaksTheGemmRateIsInFlops)
{
    const Overview o =
        overview(test::plantedTrace(test::cpuWithoutFp8(), {.gemm16FlopsPerSecond = 2e11}, {test::bf16Mode()}));
    EXPECT_EQ(figure(o, "GEMM rate").value, "200 GFLOP/s");
    EXPECT_THROW(static_cast<void>(figure(o, "Speedup over bf16")), std::runtime_error);
    EXPECT_THROW(static_cast<void>(figure(o, "Quantization tax")), std::runtime_error);
}

TEST(HonestyStrip, SaysStepsWarmupAndLosses)
{
    test::TraceBuilder builder;
    builder.run("bf16").track("q").slice(0, 1000, "gemm", Role::Gemm, Precision::Bf16).slice(1000, 0, "x");
    for (std::uint32_t i = 0; i < 10; ++i)
        builder.step(i, 100 * i, 100, 0, i < 3);
    Trace trace = builder.build();
    Honesty h = overview(trace).honesty;
    EXPECT_EQ(h.origin, Origin::MeasuredGpu);
    EXPECT_EQ(h.steps, "steps 4 to 10 of 10, first 3 warm-up");
    EXPECT_EQ(h.classified, "classified 100%");
    EXPECT_EQ(h.losses, "no records lost");
    EXPECT_FALSE(h.lossy);

    trace.diagnostics.push_back({RunId(0), "dropped", Severity::DataLoss, 12, "12 records were dropped"});
    trace.diagnostics.push_back({RunId(0), "renamed", Severity::Info, 1, "harmless"});
    trace.runs[0].complete = false;
    trace.runs[0].note = "the engine was killed";
    h = overview(trace).honesty;
    EXPECT_TRUE(h.lossy);
    EXPECT_EQ(h.losses, "bf16 is incomplete: the engine was killed; 12 records were dropped");
}

TEST(HonestyStrip, RunsThatDifferAreNamed)
{
    test::TraceBuilder builder;
    builder.run("bf16").step(0, 0, 10).run("fp8").step(0, 10, 10).step(1, 20, 10);
    EXPECT_EQ(overview(builder.build()).honesty.steps, "bf16: step 1 of 1; fp8: steps 1 to 2 of 2");
}

TEST(OverviewTest, ALimitHoldsForAllRuns)
{
    const Trace trace = test::plantedTrace(test::h100(), {}, {test::bf16Mode(), test::fusedFp8Mode()});
    const Overview o = overview(trace, {2, 4});
    for (const Breakdown& run : o.runs)
        EXPECT_EQ(run.steps.used.size(), 3U);
}

TEST(Overview, RanksAreNotComparedAsModes)
{
    test::TraceBuilder b;
    for (int rank = 0; rank < 2; ++rank) {
        b.run("rank " + std::to_string(rank), Origin::Imported).track("stream 7").step(0, 0, 1000);
        b.slice(0, 500, "gemm", Role::Gemm, Precision::Bf16);
        b.slice(500, rank == 0 ? 400 : 100, "ncclDevKernel_AllReduce", Role::Comm);
    }
    const Overview o = overview(b.build());
    EXPECT_TRUE(o.accounts.empty());
    EXPECT_THAT(plainText(o.headline), ::testing::HasSubstr("A step of rank 0 takes 1.00"));
    EXPECT_THAT(plainText(o.headline), ::testing::HasSubstr("wait for rank 1"));
}

TEST(Overview, ATraceOfCpuWorkSaysThatNothingRanOnAGpuAndWhy)
{
    test::TraceBuilder b;
    b.run("capture", Origin::Imported).track("python", TrackKind::CpuThread).slice(0, 10, "aten::mm").step(0, 0, 10);
    EXPECT_EQ(plainText(overview(b.build()).headline),
              "Nothing ran on a GPU in this trace: only CPU work was recorded.");
    b.diagnostic("profiler_log", Severity::Info, 1, "Installed CUDA driver version (13.3) is not supported.");
    EXPECT_EQ(plainText(overview(b.build()).headline),
              "Nothing ran on a GPU in this trace. The profiler says: Installed CUDA driver version (13.3) is not "
              "supported.");
    b.diagnostic("no_gpu_work", Severity::DataLoss, 1, "the export has no kernels.");
    EXPECT_EQ(plainText(overview(b.build()).headline),
              "Nothing ran on a GPU in this trace: the export has no kernels.");
}

}  // namespace
}  // namespace fp8scope::analysis
