// SPDX-License-Identifier: Apache-2.0
// What is exported is read back by the importers as the same slices, and is what the formats' documents ask for.
#include "collector/export/export.h"

#include "collector/export/nsys_names.h"
#include "collector/import/assemble.h"
#include "collector/import/kineto_reader.h"
#include "collector/import/nsys_reader.h"
#include "collector/trace/error.h"
#include "tests/support/kineto_json.h"
#include "tests/support/loop_trace.h"
#include "tests/support/nsys_database.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

namespace fp8scope::exporter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

std::string readFile(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::int64_t firstNs(const Trace& trace)
{
    std::int64_t first = INT64_MAX;
    for (const Track& track : trace.tracks)
        if (track.slices.size() > 0)
            first = std::min(first, track.slices.startNs.front());
    return first;
}

/// What a format keeps of slices, in one order: time from the first of them, name, and what ties them together.
std::vector<std::string> sliceLines(const Trace& trace, bool withRanges = true)
{
    const std::int64_t first = firstNs(trace);
    std::vector<std::string> lines;
    for (const Track& track : trace.tracks) {
        const SliceColumns& s = track.slices;
        for (std::size_t i = 0; i < s.size(); ++i) {
            const Name& name = trace.name(s.name[i]);
            const bool device = track.kind == TrackKind::DeviceQueue || name.kind == NameKind::Sync;
            if (!withRanges && name.text.starts_with("ProfilerStep#"))
                continue;
            std::string shape;
            if (!s.launchShape.empty() && s.launchShape[i].valid()) {
                const LaunchShape& l = trace.launchShapes[s.launchShape[i].value];
                shape = fmt::format(" {}x{}x{} {}", l.grid[0], l.grid[1], l.block[0], l.registers);
            }
            lines.push_back(fmt::format("{} {}+{} {} #{} {}B{}", device ? "device" : "host", s.startNs[i] - first,
                                        s.durNs[i], name.text, s.correlation.empty() ? 0 : s.correlation[i],
                                        s.bytes.empty() ? 0 : s.bytes[i],
                                        device && name.kind == NameKind::Kernel ? shape : ""));
        }
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// Unix time of the first slice, which does not depend on where a reader puts time 0.
std::int64_t firstWallNs(const Trace& trace) { return std::stoll(trace.meta.at("start_wall_ns")) + firstNs(trace); }

Trace imported(import::RawEvents raw)
{
    const std::string wall = fmt::to_string(raw.epochWallNs);
    Trace trace = import::assemble(std::move(raw));
    trace.meta["start_wall_ns"] = wall;
    return trace;
}

class Export : public testing::Test {
protected:
    std::filesystem::path exported(const Trace& trace, Format format, const char* name)
    {
        const std::filesystem::path path = m_folder / name;
        exportTrace(trace, format, path, {.writer = "fp8scope 1.2.3"});
        return path;
    }
    Json chrome(const Trace& trace) { return Json::parse(readFile(exported(trace, Format::ChromeJson, "out.json"))); }

    test::TemporaryFolder m_folder;
};

class ExportOfKineto : public Export, public testing::WithParamInterface<test::KinetoGeneration> {};
INSTANTIATE_TEST_SUITE_P(, ExportOfKineto, testing::ValuesIn(test::kKinetoGenerations),
                         [](const auto& test) { return std::string(toString(test.param)); });

TEST_P(ExportOfKineto, ComesBackAsTheSameSlicesFromChromeJson)
{
    const Trace trace = imported(import::readKineto(test::kinetoJson({.generation = GetParam()}), "a.json"));
    const std::string json = readFile(exported(trace, Format::ChromeJson, "out.json"));
    const Trace again = imported(import::readKineto(json, "out.json"));
    EXPECT_EQ(sliceLines(again), sliceLines(trace));
    EXPECT_EQ(firstWallNs(again), firstWallNs(trace));
    EXPECT_EQ(again.steps.size(), trace.steps.size());
}

TEST_P(ExportOfKineto, ComesBackAsTheSameSlicesFromSqlite)
{
    const Trace trace = imported(import::readKineto(test::kinetoJson({.generation = GetParam()}), "a.json"));
    const Trace again = imported(import::readNsys(exported(trace, Format::NsysSqlite, "out.sqlite")));
    EXPECT_EQ(sliceLines(again), sliceLines(trace));
}

class ExportOfNsys : public Export, public testing::WithParamInterface<test::NsysGeneration> {
protected:
    Trace read(const test::NsysFile& file)
    {
        test::writeNsysDatabase(m_folder / "in.sqlite", file);
        return imported(import::readNsys(m_folder / "in.sqlite"));
    }
};
INSTANTIATE_TEST_SUITE_P(, ExportOfNsys, testing::ValuesIn(test::kNsysGenerations),
                         [](const auto& test) { return std::string(toString(test.param)); });

TEST_P(ExportOfNsys, ComesBackAsTheSameSlices)
{
    const Trace trace = read({.generation = GetParam(), .graphTrace = GetParam() == test::NsysGeneration::Schema3_24});
    const Trace fromSqlite = imported(import::readNsys(exported(trace, Format::NsysSqlite, "out.sqlite")));
    EXPECT_EQ(sliceLines(fromSqlite), sliceLines(trace));
    ASSERT_EQ(fromSqlite.devices.size(), 1U);
    EXPECT_EQ(fromSqlite.devices[0].name, trace.devices[0].name);
    EXPECT_EQ(fromSqlite.devices[0].arch, trace.devices[0].arch);
    EXPECT_EQ(fromSqlite.runs.at(0).tool, "fp8scope 1.2.3");
    const std::string json = readFile(exported(trace, Format::ChromeJson, "out.json"));
    EXPECT_EQ(sliceLines(imported(import::readKineto(json, "out.json"))), sliceLines(trace));
}

TEST_F(Export, OwnTracesComeBackAsTheSameSlices)
{
    const Trace trace = test::makeLoopTrace({.slices = 3000});
    const std::string json = readFile(exported(trace, Format::ChromeJson, "out.json"));
    const auto slices = [](const Trace& t) {
        std::vector<std::string> lines;  // several runs: correlations are told apart, so they are not compared
        for (std::string line : sliceLines(t, false))
            lines.push_back(line.substr(0, line.rfind(" #")));
        return lines;
    };
    const Trace again = imported(import::readKineto(json, "out.json"));
    EXPECT_EQ(slices(again), slices(trace));
    EXPECT_EQ(again.steps.size(), trace.steps.size());
    EXPECT_EQ(slices(imported(import::readNsys(exported(trace, Format::NsysSqlite, "out.sqlite")))), slices(trace));
}

TEST_F(Export, ChromeJsonIsAsTheFormatsDocumentAsks)
{
    const Trace trace = imported(import::readKineto(test::kinetoJson(), "a.json"));
    std::map<std::string, int> phases;
    const Json json = chrome(trace);
    for (const Json& e : json.at("traceEvents")) {
        ASSERT_TRUE(e.at("ph").is_string() && e.at("name").is_string() && e.at("pid").is_number_unsigned()) << e;
        ASSERT_TRUE(e.at("ts").is_number() && e.at("ts") >= 0) << e;
        const std::string phase = e.at("ph");
        ++phases[phase];
        if (phase == "X") {
            EXPECT_TRUE(e.at("dur").is_number() && e.at("dur") >= 0 && e.at("cat").is_string()) << e;
        }
        if (phase == "f") {
            EXPECT_EQ(e.at("bp"), "e");
        }
        if (phase == "s" || phase == "f") {
            EXPECT_TRUE(e.at("id").is_number_unsigned() && e.at("cat") == "ac2g") << e;
        }
    }
    EXPECT_EQ(phases["X"], static_cast<int>(trace.sliceCount()));
    EXPECT_EQ(phases["s"], 54);  // a launch for each piece of work: 3 steps of 18
    EXPECT_EQ(phases["f"], 54);
    EXPECT_GT(phases["M"], 6);
    EXPECT_EQ(phases.size(), 4U);
}

TEST_F(Export, ChromeTimesHaveThreeDecimals)
{
    const Trace trace = test::TraceBuilder().run("bf16").track("queue").slice(1'234'567, 89, "a").build();
    const std::string json = readFile(exported(trace, Format::ChromeJson, "out.json"));
    EXPECT_THAT(json, HasSubstr(R"("ts": 1234.567, "dur": 0.089)"));
}

/// Perfetto and chrome://tracing drop what overlaps its neighbour in part.
TEST_F(Export, ChromeRowsNestOrFollow)
{
    test::TraceBuilder builder;
    builder.run("bf16").track("stream 7").slice(0, 100, "a").slice(50, 100, "programmatic launch").slice(160, 10, "c");
    builder.track("thread 1", TrackKind::CpuThread)
        .slice(0, 100, "outer")
        .slice(10, 20, "inner")
        .slice(20, 200, "stray");
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows;
    const Json json = chrome(builder.build());
    for (const Json& e : json.at("traceEvents"))
        if (e.at("ph") == "X")
            rows[{e.at("pid"), e.at("tid")}].emplace_back(e.at("ts"),
                                                          e.at("ts").get<double>() + e.at("dur").get<double>());
    EXPECT_EQ(rows.size(), 4U);
    for (const auto& [row, slices] : rows)
        for (const auto& a : slices)
            for (const auto& b : slices)
                EXPECT_FALSE(a.first < b.first && b.first < a.second && a.second < b.second)
                    << row.first << ' ' << row.second;
}

TEST_F(Export, ChromeEventsTellRoleLayerPhaseAndShape)
{
    TraceOp op;
    op.name = "layer0.fwd.gemm";
    op.phase = Phase::Forward;
    op.role = Role::Gemm;
    op.m = 4096, op.n = 2048, op.k = 1024;
    op.aType = "e4m3";
    op.flops = 2.0 * 4096 * 2048 * 1024;
    test::TraceBuilder builder;
    builder.run("fp8").device({.name = "NVIDIA H100", .kind = "gpu", .arch = "sm_90"}).layer("layer0", 1024, 2048);
    op.layer = builder.layerId("layer0");
    builder.track("stream 7").opSlice(0, 1000, op, Precision::Fp8);
    const Json events = chrome(builder.build()).at("traceEvents");
    const auto at = std::find_if(events.begin(), events.end(), [](const Json& e) { return e.at("ph") == "X"; });
    ASSERT_NE(at, events.end());
    const Json& args = at->at("args");
    EXPECT_EQ(args.at("role"), "gemm");
    EXPECT_EQ(args.at("layer"), "layer0");
    EXPECT_EQ(args.at("phase"), "forward");
    EXPECT_EQ(args.at("M"), 4096);
    EXPECT_EQ(args.at("K"), 1024);
    EXPECT_EQ(args.at("A type"), "e4m3");
    EXPECT_EQ(args.at("precision"), "fp8");
    EXPECT_EQ(args.at("flops"), 17179869184);
}

TEST_F(Export, EscapesNames)
{
    const Trace trace = test::TraceBuilder().run("bf16").track("queue").slice(0, 1, "a \"b\" \\ \n\x01, c").build();
    const Json json = chrome(trace);
    const auto& events = json.at("traceEvents");
    EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                            [](const Json& e) { return e.at("name") == "a \"b\" \\ \n\x01, c"; }));
    EXPECT_THAT(readFile(exported(trace, Format::Csv, "out.csv")), HasSubstr("\"a \"\"b\"\" \\ \n\x01, c\""));
}

TEST_F(Export, CsvHasARowForEverySliceWithItsStep)
{
    const Trace trace = test::TraceBuilder()
                            .run("bf16")
                            .track("stream 7")
                            .slice(100, 50, "nvjet_a", Role::Gemm, Precision::Bf16)
                            .slice(1000, 5, "late")
                            .step(3, 0, 500)
                            .build();
    const std::string csv = readFile(exported(trace, Format::Csv, "out.csv"));
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < csv.size();) {
        const std::size_t end = csv.find('\n', at);
        lines.push_back(csv.substr(at, end - at));
        at = end + 1;
    }
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_THAT(lines[1], HasSubstr("stream 7,0,kernel,nvjet_a,100,50,3,gemm,,bf16,GEMM 16-bit,"));
    EXPECT_THAT(lines[2], HasSubstr("stream 7,0,kernel,late,1000,5,,other,"));
    for (const std::string& line : lines)
        EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(lines[0].begin(), lines[0].end(), ',')) << line;
}

TEST_F(Export, CsvColumnsAreExplainedInTheHelp)
{
    const std::string help = readFile(std::filesystem::path(FP8SCOPE_SOURCE_FOLDER) / "resources/help/export.md");
    std::string csv = readFile(exported(test::TraceBuilder().run("bf16").build(), Format::Csv, "out.csv"));
    csv.back() = ',';
    for (std::size_t at = 0; at < csv.size();) {
        const std::size_t end = csv.find(',', at);
        EXPECT_THAT(help, HasSubstr("`" + csv.substr(at, end - at) + "`"));
        at = end + 1;
    }
}

TEST_F(Export, SaysOfWorkWhatTheAnalysisSays)
{
    const Trace trace = test::TraceBuilder().run("bf16").track("stream 7").slice(0, 10, "fused_0", Role::Other).build();
    const auto path = m_folder / "out";
    const ExportOptions options{.kindOf = [](OpId, NameId) { return WorkKind{Role::Norm, Family::ActivationNorm}; }};
    exportTrace(trace, Format::Csv, path, options);
    EXPECT_THAT(readFile(path), HasSubstr("fused_0,0,10,,norm,,unknown,Activation & norm,"));
    exportTrace(trace, Format::ChromeJson, path, options);
    EXPECT_THAT(readFile(path), HasSubstr(R"("role": "norm", "family": "Activation & norm")"));
}

TEST_F(Export, TakesOnlyTheWantedRuns)
{
    const Trace trace =
        test::TraceBuilder().run("bf16").track("a").slice(0, 1, "x").run("fp8").track("b").slice(0, 1, "y").build();
    exportTrace(trace, Format::Csv, m_folder / "out.csv", {.runs = {RunId(1)}});
    const std::string csv = readFile(m_folder / "out.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
    EXPECT_THAT(csv, HasSubstr(",y,"));
}

TEST_F(Export, CompressesByTheNamesEnding)
{
    const Trace trace = imported(import::readKineto(test::kinetoJson(), "a.json"));
    const auto plain = exported(trace, Format::ChromeJson, "out.json");
    const auto packed = exported(trace, Format::ChromeJson, "out.json.gz");
    EXPECT_LT(std::filesystem::file_size(packed) * 3, std::filesystem::file_size(plain));
    const auto source = import::openMaybeGzip(packed);
    EXPECT_EQ(sliceLines(imported(import::readKineto(*source, "out.json.gz"))), sliceLines(trace));
}

TEST_F(Export, SaysWhereItCannotWriteAndLeavesNothing)
{
    const Trace trace = test::TraceBuilder().run("bf16").track("a").slice(0, 1, "x").build();
    for (const Format format : {Format::ChromeJson, Format::Csv, Format::NsysSqlite}) {
        EXPECT_THROW(exportTrace(trace, format, m_folder / "none" / "out"), Error);
        // A folder stands where the file would be put.
        std::filesystem::create_directories(m_folder / "taken/in");
        EXPECT_THROW(exportTrace(trace, format, m_folder / "taken"), Error);
    }
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(m_folder.path()))
        left.push_back(entry.path().filename().string());
    EXPECT_THAT(left, ElementsAre("taken"));
}

TEST(NsysNames, FindTheFunctionInAKernelsName)
{
    EXPECT_EQ(shortKernelName("void at::native::vectorized_elementwise_kernel<4, at::X<int> >(int, char*)"),
              "vectorized_elementwise_kernel");
    EXPECT_EQ(shortKernelName("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<A>(B)"),
              "multi_tensor_apply_kernel");
    EXPECT_EQ(shortKernelName("nvjet_qqtst_128x256_128x6_2x1_v_bz_coopA_TNT"),
              "nvjet_qqtst_128x256_128x6_2x1_v_bz_coopA_TNT");
    EXPECT_EQ(shortKernelName("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
              "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
}

}  // namespace
}  // namespace fp8scope::exporter
