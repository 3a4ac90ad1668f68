// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/trace_reader.h"
#include "collector/trace/trace_writer.h"
#include "tests/support/loop_trace.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stop_token>

namespace fp8scope {
namespace {

using test::TemporaryFolder;
using test::toText;

/// A row in every table, with the values that are easily lost: NaN, the largest numbers, none, empty and foreign texts.
Trace traceWithEveryTable()
{
    test::TraceBuilder builder;
    builder.device({.name = "H100 \u2603",
                    .kind = "gpu",
                    .arch = "sm_90",
                    .units = 132,
                    .peakFp8 = 1.979e15,
                    .peak16 = 0.989e15,
                    .peak32 = 67e12,
                    .peakBandwidth = 3.35e12,
                    .memoryBytes = UINT64_MAX,
                    .hasFp8 = true});
    RoleSet fused;
    fused.insert(Role::BiasGrad);
    fused.insert(Role::Other);
    builder.run("fp8-fused", Origin::Predicted)
        .layer("layer0", 512, 1024, "bf16", "512 x 10 is not a multiple of 16")
        .track("stream 7")
        .slice(-5, 10, "before the trace's start", Role::CastTranspose, Precision::Fp8)
        .opSlice(5, 0,
                 {.layer = LayerId(0),
                  .name = "layer0.fwd.gemm",
                  .phase = Phase::Dgrad,
                  .role = Role::Gemm,
                  .fused = fused,
                  .m = INT64_MAX,
                  .n = 2,
                  .k = 3,
                  .aType = "e4m3",
                  .bType = "e5m2",
                  .dType = "bf16",
                  .recipe = "mxfp8",
                  .epilogue = "relu_bias",
                  .flops = 1e300,
                  .bytes = UINT64_MAX})
        .slice(5, 7, "overlaps", Role::Comm)
        .slice(6, 7, "overlaps", Role::Comm)
        .track("power", TrackKind::Counter)
        .sample(3, 700.5)
        .sample(4, std::numeric_limits<double>::quiet_NaN())
        .step(0, -5, 10, std::numeric_limits<double>::quiet_NaN(), true)
        .step(1, 5, 10, 0.25)
        .stat({.step = 1,
               .layer = LayerId(0),
               .tensor = "layer0.x",
               .format = "e4m3",
               .amax = 448.5,
               .scale = 0.5,
               .count = UINT64_MAX,
               .saturated = 1,
               .underflowed = 2,
               .zeros = 3,
               .sqnrDb = std::nan("")})
        .diagnostic("dropped_records", Severity::DataLoss, 17, "the queue was full");
    Trace trace = builder.build();
    trace.meta["host"] = "node 'a'";
    trace.meta["empty"] = "";
    trace.processes.push_back({UINT32_MAX, "python", "host", -1});
    trace.launchShapes.push_back({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 255, 1, UINT32_MAX});
    trace.histograms.push_back({RunId(0), 1, LayerId(0), "layer0.x", "e4m3", -133, {0, UINT64_MAX / 2, 3}});
    trace.histograms.push_back({RunId(0), 2, LayerId::none(), "", "", 127, {}});
    trace.stepValues.push_back({RunId(0), 1, "gradient_norm", std::nan("")});
    trace.tensorErrors.push_back({RunId(0), 1, LayerId(0), "layer0.y", 0.03125});
    trace.memory.push_back({RunId(0), "fp8 copies", 123});
    trace.diagnostics.push_back({RunId::none(), "of_the_file", Severity::Info, 1, ""});
    trace.runs[0].note = "cancelled";
    trace.runs[0].complete = false;
    SliceColumns& slices = trace.tracks[0].slices;
    slices.launchShape = {LaunchShapeId(0), LaunchShapeId::none(), LaunchShapeId(0), LaunchShapeId(0)};
    slices.correlation = {UINT64_MAX, 0, 5, 4};
    slices.bytes = {0, UINT64_MAX, 1, 0};
    return trace;
}

TEST(TraceRoundTrip, EveryTableComesBackAsItWas)
{
    const TemporaryFolder folder;
    const Trace trace = traceWithEveryTable();
    saveTrace(trace, folder / "a.fp8trace");
    EXPECT_EQ(toText(loadTrace(folder / "a.fp8trace")), toText(trace));
}

TEST(TraceRoundTrip, ALoopTraceComesBackAsItWas)
{
    const TemporaryFolder folder;
    const Trace trace = test::makeLoopTrace({.slices = 180'000, .modes = {"fp8"}});
    ASSERT_GT(trace.tracks[0].slices.size(), TraceWriter::kBlockSlices) << "one track of several blocks is wanted";
    saveTrace(trace, folder / "a.fp8trace");
    const std::string text = toText(trace);
    for (const unsigned threads : {1U, 3U})
        EXPECT_TRUE(toText(loadTrace(folder / "a.fp8trace", {.threads = threads})) == text) << threads;
}

TEST(TraceRoundTrip, AnEmptyTraceComesBackEmpty)
{
    const TemporaryFolder folder;
    saveTrace(Trace{}, folder / "a.fp8trace");
    const Trace trace = loadTrace(folder / "a.fp8trace");
    EXPECT_TRUE(trace.complete);
    EXPECT_EQ(trace.sliceCount(), 0U);
}

TEST(TraceRoundTrip, AnIncompleteTraceStaysIncomplete)
{
    const TemporaryFolder folder;
    Trace trace = traceWithEveryTable();
    trace.complete = false;
    saveTrace(trace, folder / "a.fp8trace");
    EXPECT_EQ(toText(loadTrace(folder / "a.fp8trace")), toText(trace));
}

TEST(TraceRoundTrip, AClosedTraceIsOneFile)
{
    const TemporaryFolder folder;
    saveTrace(traceWithEveryTable(), folder / "a.fp8trace");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(LoadProgressTest, TellsStagesInOrderAndEndsWithAllSlices)
{
    const TemporaryFolder folder;
    const Trace trace = test::makeLoopTrace({.slices = 80'000, .modes = {"fp8"}});
    saveTrace(trace, folder / "a.fp8trace");
    std::vector<std::string> stages;
    std::uint64_t done = 0;
    (void)loadTrace(folder / "a.fp8trace", {.onProgress = [&](const LoadProgress& p) {
                        if (stages.empty() || stages.back() != p.stage)
                            stages.push_back(p.stage);
                        EXPECT_LE(p.done, p.total);
                        if (p.stage == "slices")
                            done = p.done;
                    }});
    EXPECT_EQ(stages, (std::vector<std::string>{"tables", "slices", "lanes"}));
    EXPECT_EQ(done, trace.sliceCount());
}

TEST(LoadProgressTest, AStopEndsTheLoad)
{
    const TemporaryFolder folder;
    saveTrace(test::makeLoopTrace({.slices = 50'000}), folder / "a.fp8trace");
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW((void)loadTrace(folder / "a.fp8trace", {.stop = stop.get_token()}), LoadCancelled);

    std::stop_source later;
    LoadOptions options{.onProgress = [&](const LoadProgress&) { later.request_stop(); }, .stop = later.get_token()};
    EXPECT_THROW((void)loadTrace(folder / "a.fp8trace", options), LoadCancelled);
}

}  // namespace
}  // namespace fp8scope
