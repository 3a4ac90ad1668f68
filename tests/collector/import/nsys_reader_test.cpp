// SPDX-License-Identifier: Apache-2.0
// Exports of Nsight Systems of every generation, made by the tests' own generator: what the loop did is what is read.
#include "collector/import/nsys_reader.h"

#include "collector/trace/error.h"
#include "tests/support/nsys_database.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace fp8scope::import {
namespace {

using test::NsysFile;
using test::NsysGeneration;
using test::ProfiledLoop;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// "7 ncclDevKernel... 1200+90 #12 96 regs": what two sides must agree on, a line an event.
std::string deviceLine(std::uint64_t stream, std::string_view name, std::int64_t start, std::int64_t dur,
                       std::uint64_t correlation, std::uint64_t bytes)
{
    return fmt::format("{} {} {}+{} #{} {}B", stream, name, start, dur, correlation, bytes);
}

std::vector<std::string> deviceLines(const RawEvents& events, std::uint32_t pid)
{
    std::vector<std::string> lines;
    for (const DeviceEvent& e : events.device) {
        const RawTrack& track = events.tracks[e.track];
        const Name& name = events.names[e.name.value];
        if (events.processes[track.track.process.value].pid == pid && name.kind != NameKind::Sync)
            lines.push_back(deviceLine(track.thread, name.text, e.startNs, e.durNs, e.correlation, e.bytes));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// A hand-made export does not tell from where to where a copy goes.
std::vector<std::string> deviceLines(const ProfiledLoop& loop, NsysGeneration generation = NsysGeneration::Schema3_24)
{
    std::vector<std::string> lines;
    for (const test::ProfiledWork& w : loop.work) {
        const bool plain = generation == NsysGeneration::Minimal && w.kind != NameKind::Kernel;
        lines.push_back(deviceLine(w.stream, plain ? w.name.substr(0, w.name.find(" (")) : w.name, w.startNs, w.durNs,
                                   w.correlation, w.bytes));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

std::vector<const HostEvent*> hostEvents(const RawEvents& events, HostKind kind)
{
    std::vector<const HostEvent*> found;
    for (const HostEvent& e : events.host)
        if (e.kind == kind)
            found.push_back(&e);
    return found;
}

const std::string& nameOf(const RawEvents& events, const HostEvent& event)
{
    return events.names[event.name.value].text;
}

const Diagnostic* diagnostic(const RawEvents& events, std::string_view name)
{
    const auto at = std::find_if(events.diagnostics.begin(), events.diagnostics.end(),
                                 [&](const Diagnostic& d) { return d.name == name; });
    return at == events.diagnostics.end() ? nullptr : &*at;
}

/// All that a reader could have taken text from.
std::string everyText(const RawEvents& events)
{
    std::string text = events.source + events.producer;
    for (const auto& [key, value] : events.meta)
        text += key + value;
    for (const Process& process : events.processes)
        text += process.name + process.host;
    for (const Device& device : events.devices)
        text += device.name;
    for (const RawTrack& track : events.tracks)
        text += track.track.name;
    for (const Name& name : events.names)
        text += name.text;
    for (const Diagnostic& d : events.diagnostics)
        text += d.name + d.text;
    return text;
}

class NsysReader : public testing::Test {
protected:
    RawEvents read(const NsysFile& file)
    {
        test::writeNsysDatabase(m_path, file);
        return readNsys(m_path);
    }
    void change(const std::string& sql)
    {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(m_path.c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    }

    test::TemporaryFolder m_folder;
    std::filesystem::path m_path = m_folder / "export.sqlite";
};

class NsysGenerations : public NsysReader, public testing::WithParamInterface<NsysGeneration> {};
INSTANTIATE_TEST_SUITE_P(, NsysGenerations, testing::ValuesIn(test::kNsysGenerations),
                         [](const auto& test) { return std::string(toString(test.param)); });

TEST_P(NsysGenerations, GiveEveryKernelCopyAndMemsetToTheNanosecond)
{
    const RawEvents events = read({.generation = GetParam()});
    EXPECT_EQ(deviceLines(events, test::kNsysFirstPid), deviceLines(test::makeProfiledLoop(), GetParam()));
}

TEST_P(NsysGenerations, GiveEveryCallWithoutItsVersion)
{
    const RawEvents events = read({.generation = GetParam()});
    const ProfiledLoop loop = test::makeProfiledLoop();
    std::vector<std::string> expected;
    for (const auto& c : loop.calls)
        expected.push_back(fmt::format("{} {}+{} #{}", c.name, c.startNs, c.durNs, c.correlation));
    std::vector<std::string> read;
    for (const HostEvent* e : hostEvents(events, HostKind::Api))
        read.push_back(fmt::format("{} {}+{} #{}", nameOf(events, *e), e->startNs, e->durNs, e->correlation));
    EXPECT_EQ(read, expected);
}

TEST_P(NsysGenerations, KeepProcessesApart)
{
    if (GetParam() == NsysGeneration::Minimal)
        GTEST_SKIP() << "a hand-made export does not tell a kernel's process";
    const RawEvents events = read({.generation = GetParam(), .processes = 2});
    EXPECT_EQ(deviceLines(events, test::kNsysFirstPid), deviceLines(test::makeProfiledLoop({.seed = 1})));
    EXPECT_EQ(deviceLines(events, test::kNsysFirstPid + 1), deviceLines(test::makeProfiledLoop({.seed = 2})));
    EXPECT_EQ(events.processes.size(), 2U);
    EXPECT_EQ(events.devices.size(), 2U);
}

TEST_P(NsysGenerations, NeverTakeEnvironmentVariablesOrOutput)
{
    const RawEvents events = read({.generation = GetParam()});
    EXPECT_THAT(everyText(events), Not(HasSubstr(std::string(test::kNsysSecret))));
}

TEST_P(NsysGenerations, SurviveColumnsOfUsersAndEmptyTables)
{
    const RawEvents events = read({.generation = GetParam(), .userColumns = true, .allTables = true});
    EXPECT_EQ(deviceLines(events, test::kNsysFirstPid), deviceLines(test::makeProfiledLoop(), GetParam()));
}

TEST_F(NsysReader, SaysThatKernelsOfSeveralProcessesCannotBeToldApart)
{
    const RawEvents one = read({.generation = NsysGeneration::Minimal});
    EXPECT_EQ(diagnostic(one, "event_without_process"), nullptr);
    const RawEvents two = read({.generation = NsysGeneration::Minimal, .processes = 2});
    ASSERT_NE(diagnostic(two, "event_without_process"), nullptr);
    EXPECT_EQ(diagnostic(two, "event_without_process")->severity, Severity::Error);
}

TEST_F(NsysReader, NamesThePhysicalGpuAndNotCudasNumber)
{
    // Two GPUs in reverse: CUDA's device 0 is nsys' GPU 1.
    for (const NsysGeneration generation : {NsysGeneration::Schema3_1, NsysGeneration::Schema3_24}) {
        const RawEvents events = read({.generation = generation});
        ASSERT_EQ(events.devices.size(), 1U);
        EXPECT_EQ(events.devices[0].name, "NVIDIA H100 80GB HBM3 #1");
        EXPECT_EQ(events.devices[0].arch, "sm_90");
        EXPECT_EQ(events.devices[0].units, 132);
        EXPECT_EQ(events.devices[0].memoryBytes, 85'899'345'920U);
        EXPECT_EQ(events.devices[0].peakBandwidth, 3.35232e12);
        EXPECT_TRUE(events.devices[0].hasFp8);
    }
}

TEST_F(NsysReader, ReadsTheGpuTableOf2021)
{
    const RawEvents events = read({.generation = NsysGeneration::V2021});
    ASSERT_EQ(events.devices.size(), 1U);
    EXPECT_EQ(events.devices[0].name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(events.devices[0].units, 132);
    EXPECT_EQ(events.devices[0].memoryBytes, std::uint64_t{81920} << 20);
    EXPECT_EQ(events.epochWallNs, 0);
    EXPECT_EQ(events.producer, "Nsight Systems");
}

TEST_F(NsysReader, TellsVersionAndWallClock)
{
    EXPECT_EQ(read({.generation = NsysGeneration::Schema2_9}).producer, "Nsight Systems 2022.2.1.31");
    const RawEvents events = read({.generation = NsysGeneration::Schema3_27});
    EXPECT_EQ(events.producer, "Nsight Systems 2026.3.1.157");
    EXPECT_EQ(events.meta.at("nsys_schema"), "3.27.0");
    EXPECT_EQ(events.epochWallNs, test::kNsysSessionStartNs);
}

TEST_F(NsysReader, ReadsLaunchShapesWithClusters)
{
    const RawEvents events = read({});
    LaunchShape gemm{{256, 1, 1}, {128, 1, 1}, {2, 1, 1}, 96, 1024, 196'608};
    EXPECT_THAT(events.launchShapes, Contains(gemm));
    for (const DeviceEvent& e : events.device)
        EXPECT_EQ(e.launchShape.valid(), events.names[e.name.value].kind == NameKind::Kernel);
}

TEST_F(NsysReader, ReadsRangesOfEveryKind)
{
    const RawEvents events = read({.loop = {.steps = 1, .layers = 1}});
    std::vector<std::string> ranges;
    std::int64_t last = 0;
    for (const HostEvent* e : hostEvents(events, HostKind::Range)) {
        ranges.push_back(fmt::format("{} on {}", nameOf(events, *e), events.tracks[e->track].track.name));
        last = std::max(last, e->startNs + e->durNs);
    }
    EXPECT_THAT(ranges,
                ElementsAre("ProfilerStep#0 on thread 4242 (trainer)", "layer0 on thread 4242 (trainer)",
                            "NCCL:ncclAllReduce on thread 4242 (trainer)", "data loaded on thread 4242 (trainer)",
                            "prefetch on NVTX start-end ranges", "left open on NVTX start-end ranges"));
    ASSERT_NE(diagnostic(events, "nvtx_range_open"), nullptr);
    EXPECT_EQ(diagnostic(events, "nvtx_range_open")->count, 1U);
    const HostEvent* open = hostEvents(events, HostKind::Range).back();
    EXPECT_EQ(open->startNs + open->durNs, 2'500'000);  // the mark is the last event
    EXPECT_EQ(last, 2'500'000);
}

TEST_F(NsysReader, NamesThreadsAndKeepsOverheadApart)
{
    const RawEvents events = read({});
    std::vector<std::string> threads;
    for (const RawTrack& track : events.tracks)
        if (track.track.kind == TrackKind::CpuThread)
            threads.push_back(track.track.name);
    EXPECT_THAT(threads, ElementsAre("thread 4242 (trainer)", "thread 100000 (pt_autograd_0)"));
    EXPECT_EQ(hostEvents(events, HostKind::Overhead).size(), 2U);
    EXPECT_EQ(events.processes.at(0).name, "python3");
}

TEST_F(NsysReader, ShowsGraphLaunchesAsBoxesAndSaysHowToSeeInside)
{
    const RawEvents events = read({.loop = {.steps = 3}, .graphTrace = true});
    const auto boxes = std::count_if(events.device.begin(), events.device.end(), [&](const DeviceEvent& e) {
        return events.names[e.name.value].kind == NameKind::Graph && events.names[e.name.value].text == "CUDA graph 1";
    });
    EXPECT_EQ(boxes, 3);
    ASSERT_NE(diagnostic(events, "graph_launch_opaque"), nullptr);
    EXPECT_EQ(diagnostic(events, "graph_launch_opaque")->count, 3U);
    EXPECT_THAT(diagnostic(events, "graph_launch_opaque")->text, HasSubstr("--cuda-graph-trace=node"));
}

TEST_F(NsysReader, SaysWhyNothingRanOnAGpu)
{
    const RawEvents events = read({.onGpu = false});
    ASSERT_NE(diagnostic(events, "no_gpu_work"), nullptr);
    EXPECT_THAT(diagnostic(events, "no_gpu_work")->text,
                HasSubstr("Installed CUDA driver version (13.3) is not supported"));
    EXPECT_EQ(diagnostic(read({}), "no_gpu_work"), nullptr);
}

TEST_F(NsysReader, ShowsWhatNsysWarnsOf)
{
    const RawEvents events = read({});
    ASSERT_NE(diagnostic(events, "nsys_warning_1"), nullptr);
    EXPECT_EQ(diagnostic(events, "nsys_warning_1")->text, "Not all NVTX events might have been collected.");
    ASSERT_NE(diagnostic(events, "nsys_remark"), nullptr);
    EXPECT_EQ(diagnostic(events, "nsys_remark")->count, 2U);
    ASSERT_NE(diagnostic(events, "not_shown_OSRT_API"), nullptr);
}

TEST_F(NsysReader, PutsWaitsBesideTheQueues)
{
    const RawEvents events = read({});
    for (const DeviceEvent& e : events.device)
        EXPECT_EQ(events.names[e.name.value].kind == NameKind::Sync,
                  events.tracks[e.track].track.name == "GPU 0 waits");
}

TEST_F(NsysReader, FindsTheDeviceOfAWaitByItsContext)
{
    // A real file had device 0 in the waits of a process that used device 1 only.
    (void)read({});
    change("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET deviceId = 1;"
           "UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET deviceId = 1");
    for (const RawTrack& track : readNsys(m_path).tracks)
        EXPECT_TRUE(!track.track.device.valid() || track.track.name.starts_with("GPU 1 ")) << track.track.name;
}

TEST_F(NsysReader, RefusesOtherDatabases)
{
    change("CREATE TABLE test (a)");
    EXPECT_FALSE(isNsysDatabase(m_path));
    try {
        (void)readNsys(m_path);
        FAIL();
    } catch (const Error& e) {
        EXPECT_THAT(e.what(), HasSubstr("no export of Nsight Systems"));
        EXPECT_THAT(e.what(), HasSubstr("nsys export --type sqlite"));
    }
}

TEST_F(NsysReader, RefusesWhatIsNoDatabase)
{
    std::ofstream(m_path) << "NVIDIA Tegra Profiler Report 1.\n";
    EXPECT_THROW((void)readNsys(m_path), Error);
    EXPECT_THROW((void)readNsys(m_folder / "missing.sqlite"), Error);
    EXPECT_THROW((void)isNsysDatabase(m_folder / "missing.sqlite"), Error);
}

TEST_F(NsysReader, WritesNothingBesideTheFile)
{
    (void)read({});
    std::filesystem::permissions(m_folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_FALSE(readNsys(m_path).device.empty());
    std::filesystem::permissions(m_folder.path(), std::filesystem::perms::owner_all);
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(m_folder.path()))
        files.push_back(entry.path().filename().string());
    EXPECT_THAT(files, ElementsAre("export.sqlite"));
}

TEST_F(NsysReader, OpensNamesThatAnUriWouldMisread)
{
    m_path = m_folder / "run 1?#50%.sqlite";
    EXPECT_FALSE(read({}).device.empty());
}

TEST_F(NsysReader, MendsNamesThatAreNotUtf8)
{
    (void)read({});
    change("UPDATE StringIds SET value = CAST(x'6bff6c' AS TEXT) WHERE value LIKE 'nccl%'");
    const RawEvents events = readNsys(m_path);
    EXPECT_TRUE(std::any_of(events.names.begin(), events.names.end(),
                            [](const Name& name) { return name.text == "k\xef\xbf\xbdl"; }));
}

TEST_F(NsysReader, LooksStringsUpWithoutAKeyAsWell)
{
    (void)read({});
    change("CREATE TABLE copy (id INT, value TEXT); INSERT INTO copy SELECT * FROM StringIds;"
           "DROP TABLE StringIds; ALTER TABLE copy RENAME TO StringIds");
    EXPECT_EQ(deviceLines(readNsys(m_path), test::kNsysFirstPid), deviceLines(test::makeProfiledLoop()));
}

TEST_F(NsysReader, CountsRowsThatAreNoEvents)
{
    (void)read({});
    change("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon' WHERE rowid = 1;"
           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = start - 5 WHERE rowid = 2;"
           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = 9223372036854775807 WHERE rowid = 3;"
           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 99999, shortName = NULL WHERE rowid = 4");
    const RawEvents events = readNsys(m_path);
    ASSERT_NE(diagnostic(events, "unreadable_row"), nullptr);
    EXPECT_EQ(diagnostic(events, "unreadable_row")->count, 1U);
    EXPECT_EQ(diagnostic(events, "negative_duration")->count, 1U);
    EXPECT_EQ(diagnostic(events, "time_out_of_range")->count, 1U);
    EXPECT_EQ(diagnostic(events, "name_missing")->count, 1U);
}

TEST_F(NsysReader, GivesTheRowsBeforeDamageAndSaysSo)
{
    // Kernels of 200 steps fill many pages; the last third of the file is lost, as after an interrupted download.
    test::writeNsysDatabase(m_path, {.loop = {.steps = 200}});
    const std::size_t all = readNsys(m_path).device.size();
    std::filesystem::resize_file(m_path, std::filesystem::file_size(m_path) / 3 / 4096 * 4096);
    try {
        const RawEvents events = readNsys(m_path);
        EXPECT_LT(events.device.size(), all);
        EXPECT_TRUE(std::any_of(events.diagnostics.begin(), events.diagnostics.end(), [](const Diagnostic& d) {
            return d.name.starts_with("table_damaged_") && d.severity == Severity::Error;
        }));
    } catch (const Error& e) {
        EXPECT_THAT(e.what(), HasSubstr("export it again"));
    }
}

TEST_F(NsysReader, StopsWhenAsked)
{
    test::writeNsysDatabase(m_path, {.loop = {.steps = 1500}});
    std::stop_source stop;
    std::uint64_t told = 0;
    ImportOptions options;
    options.stop = stop.get_token();
    options.onProgress = [&](const ImportProgress& progress) {
        told = progress.done;
        EXPECT_LE(progress.done, progress.total);
        stop.request_stop();
    };
    EXPECT_THROW((void)readNsys(m_path, options), ImportCancelled);
    EXPECT_GT(told, 0U);
}

/// Counts and sums by SQL alone, which knows nothing of the reader.
class NsysRealFiles : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        m_path = std::filesystem::path(FP8SCOPE_SOURCE_FOLDER) / "../shared/data/traces/nsys" / GetParam();
        if (!std::filesystem::exists(m_path))
            GTEST_SKIP() << "no real traces beside this checkout";
        ASSERT_EQ(sqlite3_open_v2(("file:" + m_path.string() + "?immutable=1").c_str(), &m_db,
                                  SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr),
                  SQLITE_OK);
    }
    void TearDown() override { sqlite3_close(m_db); }

    /// -1 where a table is not there.
    std::int64_t ask(const std::string& sql)
    {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(m_db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
            return 0;
        const std::int64_t answer = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
        sqlite3_finalize(statement);
        return answer;
    }

    std::filesystem::path m_path;
    sqlite3* m_db = nullptr;
};
INSTANTIATE_TEST_SUITE_P(, NsysRealFiles,
                         testing::Values("healthy_1pct.sqlite", "mfu_2gpu_before.sqlite", "nsight-2025.5.2.sqlite",
                                         "perlmutter-cloverleaf-cuda.sqlite", "saxpy-mpi-cuda_nsys_perlmutter0.sqlite"),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace_if(
                                 name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                             return name;
                         });

TEST_P(NsysRealFiles, AgreeWithPlainSql)
{
    const RawEvents events = readNsys(m_path);
    std::map<NameKind, std::int64_t> count;
    std::int64_t kernelNs = 0;
    for (const DeviceEvent& e : events.device) {
        const NameKind kind = events.names[e.name.value].kind;
        ++count[kind];
        kernelNs += kind == NameKind::Kernel ? e.durNs : 0;
    }
    EXPECT_EQ(count[NameKind::Kernel], ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"));
    EXPECT_EQ(kernelNs, ask("SELECT sum(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"));
    EXPECT_EQ(count[NameKind::Memcpy], ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"));
    EXPECT_EQ(count[NameKind::Memset], ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET"));
    EXPECT_EQ(count[NameKind::Graph], ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"));
    const auto hosts = [&](HostKind kind) { return static_cast<std::int64_t>(hostEvents(events, kind).size()); };
    EXPECT_EQ(hosts(HostKind::Api), ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME"));
    EXPECT_EQ(hosts(HostKind::Range) + hosts(HostKind::Op),  // PyTorch's ops come as ranges too
              ask("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"));
    for (const Diagnostic& d : events.diagnostics)
        EXPECT_NE(d.severity, Severity::Error) << d.text;
}

TEST_P(NsysRealFiles, FindEachKernelsLaunchInItsProcess)
{
    const RawEvents events = readNsys(m_path);
    std::map<std::pair<std::uint32_t, std::uint64_t>, int> calls;
    for (const HostEvent* e : hostEvents(events, HostKind::Api))
        ++calls[{events.tracks[e->track].track.process.value, e->correlation}];
    std::int64_t launched = 0;
    for (const DeviceEvent& e : events.device)
        launched += events.names[e.name.value].kind == NameKind::Kernel &&
                    calls.contains({events.tracks[e.track].track.process.value, e.correlation});
    const bool processes =
        ask("SELECT count(*) FROM pragma_table_info('CUPTI_ACTIVITY_KIND_KERNEL') WHERE name = 'globalPid'") > 0;
    EXPECT_EQ(launched, ask(processes ? "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE (globalPid / 0x1000000, "
                                        "correlationId) IN (SELECT globalTid / 0x1000000, correlationId FROM "
                                        "CUPTI_ACTIVITY_KIND_RUNTIME)"
                                      : "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId IN "
                                        "(SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)"));
}

}  // namespace
}  // namespace fp8scope::import
