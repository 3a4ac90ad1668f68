// SPDX-License-Identifier: Apache-2.0
// The writer's promises: one writer a file, readers meanwhile, compact files, and what was flushed survives everything.
#include "collector/trace/trace_writer.h"

#include "collector/trace/error.h"
#include "collector/trace/trace_query.h"
#include "collector/trace/trace_reader.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace fp8scope {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

constexpr auto kReplace = TraceWriter::IfExists::Replace;

template <typename Action>
std::string errorOf(Action&& action)
{
    try {
        action();
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

/// A run with one queue and one kernel's name; gives the queue.
TrackId addQueue(TraceWriter& writer)
{
    const RunId run = writer.addRun({.mode = "bf16"});
    const ProcessId process = writer.addProcess({1, "test", "here", -1});
    (void)writer.addName({.text = "kernel"});
    return writer.addTrack({.run = run, .process = process, .kind = TrackKind::DeviceQueue, .name = "queue"});
}

std::vector<SliceRecord> slicesFrom(std::int64_t first, std::int64_t count)
{
    std::vector<SliceRecord> slices;
    for (std::int64_t i = first; i < first + count; ++i)
        slices.push_back({10 * i, 7 + i % 3, NameId(0), {}, static_cast<std::uint64_t>(i), {}, 0});
    return slices;
}

std::int64_t blockCount(const std::filesystem::path& path)
{
    return std::get<std::int64_t>(TraceQuery(path).run("SELECT count(*) FROM slice_block").rows[0][0]);
}

TEST(TraceWriterTest, AnExistingFileIsRefusedUnlessItMayBeReplaced)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    std::ofstream(path) << "precious";
    EXPECT_EQ(errorOf([&] { TraceWriter writer(path); }),
              path.string() + ": the file exists; choose another name, or say that it may be replaced");
    TraceWriter(path, kReplace).close();
    EXPECT_TRUE(loadTrace(path).complete);
}

TEST(TraceWriterTest, AFolderThatIsNotThereIsNamed)
{
    const TemporaryFolder folder;
    EXPECT_THAT(
        errorOf([&] { TraceWriter writer(folder / "no/such/a.fp8trace"); }),
        HasSubstr("a.fp8trace: the trace cannot be written (No such file or directory); choose a folder that exists"));
    EXPECT_THAT(errorOf([&] { TraceWriter writer(folder.path(), kReplace); }), HasSubstr("this is not a file"));
}

TEST(TraceWriterTest, ASecondWriterIsRefusedInThisProcess)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    TraceWriter first(path);
    const TrackId queue = addQueue(first);
    for (const auto ifExists : {TraceWriter::IfExists::Refuse, kReplace})
        EXPECT_EQ(errorOf([&] { TraceWriter second(path, ifExists); }),
                  path.string() +
                      ": another program is writing this trace; wait for it to end, or choose another name");
    first.addSlices(queue, slicesFrom(0, 3));
    first.close();
    EXPECT_EQ(loadTrace(path).sliceCount(), 3U) << "the first writer was not disturbed";
}

/// Runs `body` in a child process and gives its wait status.
template <typename Body>
int inChild(Body&& body)
{
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            body();
            ::_exit(0);
        } catch (const Error& e) {
            ::_exit(std::string(e.what()).find("another program is writing") != std::string::npos ? 17 : 1);
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(TraceWriterTest, ASecondWriterIsRefusedInAnotherProcess)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    TraceWriter first(path);
    const int status = inChild([&] { TraceWriter second(path, kReplace); });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 17);
}

TEST(TraceWriterTest, AReaderSeesWhatWasFlushedWhileItIsWritten)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    {
        TraceWriter writer(path);
        const TrackId queue = addQueue(writer);
        writer.addSlices(queue, slicesFrom(0, 100));
        writer.flush();
        writer.addSlices(queue, slicesFrom(100, 100));
        EXPECT_EQ(loadTrace(path).sliceCount(), 100U);
        EXPECT_FALSE(loadTrace(path).complete);
        writer.flush();
        EXPECT_EQ(loadTrace(path).sliceCount(), 200U);
        writer.close();
    }
    EXPECT_TRUE(loadTrace(path).complete);
    EXPECT_FALSE(std::filesystem::exists(path.string() + "-lock"));
    EXPECT_FALSE(std::filesystem::exists(path.string() + "-wal"));
}

TEST(TraceWriterTest, ShortBlocksAreMergedSoThatManyFlushesCostLittle)
{
    const TemporaryFolder folder;
    const auto often = folder / "often.fp8trace";
    const auto once = folder / "once.fp8trace";
    {
        TraceWriter writer(often);
        const TrackId queue = addQueue(writer);
        for (int flush = 0; flush < 300; ++flush) {
            writer.addSlices(queue, slicesFrom(100 * flush, 100));
            writer.flush();
            if (flush == 254) {
                EXPECT_LE(blockCount(often), 8) << "255 flushes leave a logarithm of blocks";
            }
        }
        writer.close();
    }
    TraceWriter writer(once);
    const TrackId queue = addQueue(writer);
    writer.addSlices(queue, slicesFrom(0, 30'000));
    writer.close();
    EXPECT_EQ(blockCount(often), 1);
    EXPECT_EQ(loadTrace(often).tracks[0].slices.startNs, loadTrace(once).tracks[0].slices.startNs);
    EXPECT_EQ(loadTrace(often).tracks[0].slices.correlation, loadTrace(once).tracks[0].slices.correlation);
    EXPECT_LT(std::filesystem::file_size(often), 2 * std::filesystem::file_size(once));
}

TEST(TraceWriterTest, FullBlocksAreWrittenWithoutAFlush)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    TraceWriter writer(path);
    const TrackId queue = addQueue(writer);
    const auto many = static_cast<std::int64_t>(2 * TraceWriter::kBlockSlices + 5);
    writer.addSlices(queue, slicesFrom(0, many));
    writer.close();
    EXPECT_EQ(blockCount(path), 3);
    EXPECT_EQ(loadTrace(path).sliceCount(), static_cast<std::size_t>(many));
}

TEST(TraceWriterTest, BuffersOfManyTracksAreBoundedWithoutLosingASlice)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    TraceWriter writer(path);
    TrackId queue = addQueue(writer);
    const std::vector<SliceRecord> slices = slicesFrom(0, 60'000);  // never a full block
    for (int track = 0; track < 40; ++track) {                      // 2.4 million slices, of which 2.1 may be held
        queue = writer.addTrack({.run = RunId(0), .process = ProcessId(0), .name = "t"});
        writer.addSlices(queue, slices);
    }
    writer.flush();
    EXPECT_EQ(loadTrace(path).sliceCount(), 40 * slices.size());
}

TEST(TraceWriterTest, SlicesOutOfOrderAreSortedWhenLoaded)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    TraceWriter writer(path);
    const TrackId queue = addQueue(writer);
    for (const std::int64_t first : {300, 0, 100}) {
        for (std::int64_t i = 99; i >= 0; --i) {
            writer.addSlices(queue, slicesFrom(first + i, 1));
            if (i == 50)
                writer.flush();
        }
    }
    writer.close();
    const Trace trace = loadTrace(path);
    const SliceColumns& loaded = trace.tracks[0].slices;
    EXPECT_TRUE(std::is_sorted(loaded.startNs.begin(), loaded.startNs.end()));
    EXPECT_EQ(loaded.size(), 300U);
    EXPECT_EQ(loaded.startNs[150], 1500);
    EXPECT_EQ(loaded.correlation[250], 350U) << "all columns moved together";
}

TEST(TraceWriterTest, ImpossibleTimesAreCountedNotThrown)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    TraceWriter writer(path);
    const TrackId queue = addQueue(writer);
    const std::vector<SliceRecord> slices{
        {10, -3, NameId(0), {}, 0, {}, 0}, {INT64_MAX, 1, NameId(0), {}, 0, {}, 0}, {20, 5, NameId(0), {}, 0, {}, 0}};
    writer.addSlices(queue, slices);
    writer.close();
    const Trace trace = loadTrace(path);
    EXPECT_THAT(trace.tracks[0].slices.startNs, testing::ElementsAre(10, 20));
    EXPECT_THAT(trace.tracks[0].slices.durNs, testing::ElementsAre(0, 5));
    ASSERT_EQ(trace.diagnostics.size(), 2U);
    EXPECT_EQ(trace.diagnostics[0].name, "negative_duration");
    EXPECT_EQ(trace.diagnostics[1].name, "time_out_of_range");
    EXPECT_EQ(trace.diagnostics[1].severity, Severity::DataLoss);
}

TEST(TraceWriterTest, WhatTheReaderWouldRefuseIsRefusedAtOnce)
{
    const TemporaryFolder folder;
    TraceWriter writer(folder / "a.fp8trace");
    const TrackId queue = addQueue(writer);
    const std::vector<SliceRecord> slices{{10, 1, NameId(1), {}, 0, {}, 0}};
    EXPECT_THAT(errorOf([&] { writer.addSlices(queue, slices); }), HasSubstr("a slice refers to name 1"));
    EXPECT_THAT(errorOf([&] { writer.addStep({.run = RunId(9)}); }), HasSubstr("refers to row 9 of a table of 1"));
    EXPECT_THAT(errorOf([&] { writer.addStep({.run = RunId(0), .durNs = -1}); }), HasSubstr("duration out of range"));
    writer.close();
    EXPECT_TRUE(loadTrace(writer.path()).complete);
}

TEST(TraceWriterTest, EqualNamesAndShapesAndDiagnosticsAreOneRow)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    TraceWriter writer(path);
    (void)addQueue(writer);
    EXPECT_EQ(writer.addName({.text = "kernel"}), NameId(0));
    EXPECT_EQ(writer.addName({.text = "kernel", .role = Role::Gemm}), NameId(1));
    EXPECT_EQ(writer.addLaunchShape({.registers = 3}), LaunchShapeId(0));
    EXPECT_EQ(writer.addLaunchShape({.registers = 3}), LaunchShapeId(0));
    writer.addDiagnostic({RunId(0), "dropped", Severity::DataLoss, 2, "why"});
    writer.addDiagnostic({RunId(0), "dropped", Severity::DataLoss, 3, "why"});
    writer.addDiagnostic({RunId::none(), "dropped", Severity::DataLoss, 1, "why"});
    writer.close();
    const Trace trace = loadTrace(path);
    EXPECT_EQ(trace.names.size(), 2U);
    ASSERT_EQ(trace.diagnostics.size(), 2U);
    EXPECT_EQ(trace.diagnostics[0].count, 5U);
}

TEST(TraceWriterTest, AKilledWriterLeavesAllFlushedBatches)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    const int status = inChild([&] {
        TraceWriter writer(path);
        const TrackId queue = addQueue(writer);
        for (int batch = 0; batch < 50; ++batch) {
            writer.addSlices(queue, slicesFrom(3000 * batch, 3000));
            writer.addStep({.run = RunId(0), .index = static_cast<std::uint32_t>(batch), .durNs = 1});
            writer.flush();
        }
        writer.addSlices(queue, slicesFrom(150'000, 3000));  // never flushed
        ::raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    const Trace trace = loadTrace(path);
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(trace.sliceCount(), 150'000U);
    EXPECT_EQ(trace.steps.size(), 50U);
    EXPECT_EQ(loadTrace(path).sliceCount(), 150'000U) << "reading it changed nothing";
    TraceWriter(path, kReplace).close();
    EXPECT_EQ(loadTrace(path).sliceCount(), 0U) << "the dead writer's lock holds nobody up";
}

/// What a power cut may leave of SQLite's log: its beginning, or a part that never reached the disk.
TEST(TraceWriterTest, ADamagedLogGivesTheBatchesBeforeTheDamage)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    const auto log = folder / "a.fp8trace-wal";
    (void)inChild([&] {
        TraceWriter writer(path);
        const TrackId queue = addQueue(writer);
        for (int batch = 0; batch < 20; ++batch) {
            writer.addSlices(queue, slicesFrom(50 * batch, 50));
            writer.flush();
        }
        ::raise(SIGKILL);
    });
    const auto whole = std::filesystem::file_size(log);
    std::size_t before = 1000;
    for (int cut = 0; cut < 40; ++cut) {
        if (cut % 2 == 0)
            std::filesystem::resize_file(log, whole - whole * static_cast<std::uintmax_t>(cut) / 40);
        else
            std::fstream(log, std::ios::in | std::ios::out | std::ios::binary)
                .seekp(static_cast<std::streamoff>(std::filesystem::file_size(log) * 3 / 4))
                .put('\x55');
        const std::size_t slices = loadTrace(path).sliceCount();
        EXPECT_EQ(slices % 50, 0U) << "whole batches";
        EXPECT_LE(slices, before);
        before = slices;
    }
    EXPECT_LT(before, 200U);
}

TEST(TraceWriterTest, AWriterThatGoesAwayLeavesTheFileIncomplete)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    {
        TraceWriter writer(path);
        writer.addSlices(addQueue(writer), slicesFrom(0, 10));
    }
    const Trace trace = loadTrace(path);
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(trace.sliceCount(), 10U);
}

/// A limit on the size of files stands for a full disk: both make write() fail in the middle of a batch.
TEST(TraceWriterTest, AFullDiskIsAnErrorAndWhatWasFlushedStays)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    const int status = inChild([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        TraceWriter writer(path);
        const TrackId queue = addQueue(writer);
        writer.addSlices(queue, slicesFrom(0, 500));
        writer.flush();
        const rlimit limit{1 << 20, 1 << 20};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const std::string first = errorOf([&] {
            std::vector<SliceRecord> noise;
            std::uint64_t state = 1;
            for (int i = 0; i < 200'000; ++i) {
                state = state * 6364136223846793005ULL + 1442695040888963407ULL;
                noise.push_back(
                    {10'000 + static_cast<std::int64_t>(state >> 8), 1, NameId(0), {}, state, {}, state >> 1});
            }
            writer.addSlices(queue, noise);
            writer.flush();
        });
        if (first.find("free some space") == std::string::npos)
            std::fprintf(stderr, "%s\n", first.c_str());
        const bool named =
            first.find("a.fp8trace") != std::string::npos && first.find("free some space") != std::string::npos;
        const std::string again = errorOf([&] { writer.flush(); });
        const std::string closed = errorOf([&] { writer.close(); });
        ::_exit(named && again == first && closed == first ? 42 : 43);
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    const Trace trace = loadTrace(path);
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(trace.sliceCount(), 500U);
}

}  // namespace
}  // namespace fp8scope
