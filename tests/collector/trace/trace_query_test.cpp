// SPDX-License-Identifier: Apache-2.0
// SQL on traces: the virtual table `slice` against the loaded columns, what queries may do, and the sqlite3 shell's
// extension.
#include "collector/trace/trace_query.h"

#include "collector/trace/error.h"
#include "collector/trace/trace_reader.h"
#include "collector/trace/trace_writer.h"
#include "tests/support/loop_trace.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

namespace fp8scope {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

std::string toText(const SqlValue& value)
{
    return std::visit(
        [](const auto& v) -> std::string {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
                return "NULL";
            else
                return fmt::format("{}", v);
        },
        value);
}

/// Rows joined by newlines, values by bars, as the sqlite3 shell prints them.
std::string toText(const QueryResult& result)
{
    std::string text;
    for (const std::vector<SqlValue>& row : result.rows) {
        for (std::size_t c = 0; c < row.size(); ++c)
            text += (c == 0 ? "" : "|") + toText(row[c]);
        text += '\n';
    }
    return text;
}

class SmallTrace : public testing::Test {
protected:
    SmallTrace()
    {
        Trace trace =
            test::TraceBuilder()
                .run("fp8")
                .layer("layer0", 512, 512, "fp8")
                .track("stream 7")
                .opSlice(-2, 12,
                         {.layer = LayerId(0), .name = "layer0.fwd.gemm", .phase = Phase::Forward, .role = Role::Gemm},
                         Precision::Fp8)
                .slice(10, 5, "cast", Role::Cast, Precision::Bf16)
                .slice(30, 5, "cast", Role::Cast, Precision::Bf16)
                .track("main", TrackKind::CpuThread)
                .slice(-4, 3, "cudaLaunchKernel")
                .step(0, 0, 40, 0.5)
                .build();
        trace.tracks[0].slices.correlation = {7, 0, 8};
        trace.tracks[0].slices.bytes = {0, 64, 0};
        saveTrace(trace, m_path);
    }
    [[nodiscard]] std::string ask(const std::string& sql) const { return toText(TraceQuery(m_path).run(sql)); }
    [[nodiscard]] std::string errorOf(const std::string& sql) const
    {
        try {
            return "no error: " + ask(sql);
        } catch (const Error& e) {
            return e.what();
        }
    }

    TemporaryFolder m_folder;
    std::filesystem::path m_path = m_folder / "a.fp8trace";
};

TEST_F(SmallTrace, SlicesAreRowsWithAllThatBelongsToThem)
{
    EXPECT_EQ(ask("SELECT * FROM slice"),
              "0|0|0|-2|12|10|layer0.fwd.gemm|0|op|gemm|GEMM fp8|fp8|0|0|forward|7|NULL|0\n"
              "1|0|0|10|5|15|cast|1|kernel|cast|Quantization|bf16|NULL|NULL|NULL|NULL|NULL|64\n"
              "2|0|0|30|5|35|cast|1|kernel|cast|Quantization|bf16|NULL|NULL|NULL|8|NULL|0\n"
              "65536|0|1|-4|3|-1|cudaLaunchKernel|2|kernel|other|Unknown|unknown|NULL|NULL|NULL|NULL|NULL|NULL\n");
}

TEST_F(SmallTrace, ViewsAnswerThePlainQuestions)
{
    EXPECT_EQ(ask("SELECT name, calls, total_ms, min_us, max_us FROM kernels"),
              "layer0.fwd.gemm|1|1.2e-05|0.012|0.012\ncast|2|1e-05|0.005|0.005\n");
    EXPECT_EQ(ask("SELECT mode, family, slices FROM family_time"), "fp8|GEMM fp8|1\nfp8|Quantization|2\n");
    EXPECT_EQ(ask("SELECT mode, number, dur_ms, loss FROM steps"), "fp8|0|4e-05|0.5\n");
}

TEST_F(SmallTrace, ConstraintsOfEveryKindGiveTheRightRows)
{
    EXPECT_EQ(ask("SELECT id FROM slice WHERE start_ns = 10"), "1\n");
    EXPECT_EQ(ask("SELECT id FROM slice WHERE start_ns > 0 AND start_ns <= 30"), "1\n2\n");
    EXPECT_EQ(ask("SELECT id FROM slice WHERE end_ns >= 15 AND start_ns < 30"), "1\n");
    EXPECT_EQ(ask("SELECT id FROM slice WHERE start_ns > 9.5 AND start_ns < 29.5"), "1\n") << "reals are compared too";
    EXPECT_EQ(ask("SELECT id FROM slice WHERE start_ns > NULL"), "");
    EXPECT_EQ(ask("SELECT id FROM slice WHERE id = 65536 OR rowid = 2"), "65536\n2\n");
    EXPECT_EQ(ask("SELECT name FROM slice WHERE track = 1"), "cudaLaunchKernel\n");
    EXPECT_EQ(ask("SELECT count(*) FROM slice WHERE run = 1"), "0\n");
    EXPECT_EQ(ask("SELECT count(*) FROM slice WHERE start_ns > 9223372036854775807"), "0\n");
    EXPECT_EQ(ask("SELECT op.name, slice.dur_ns FROM slice JOIN op ON op.id = slice.op"), "layer0.fwd.gemm|12\n");
}

TEST_F(SmallTrace, OnlyReadingIsAllowed)
{
    const std::string mayOnlyRead = m_path.string() + ": a query may only read the trace; ask with SELECT";
    for (const char* sql : {"DELETE FROM step", "UPDATE run SET mode = 'x'", "DROP TABLE step", "CREATE TABLE t(a)",
                            "VACUUM", "CREATE TEMP TABLE t AS SELECT 1", "ATTACH '/tmp/other' AS other",
                            "PRAGMA user_version = 3; ", "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = ON",
                            "SELECT load_extension('x')", "BEGIN", "INSERT INTO slice(id) VALUES(1)"})
        EXPECT_THAT(errorOf(sql),
                    testing::AnyOf(mayOnlyRead, HasSubstr("may not be modified"), HasSubstr("not authorized")))
            << sql;
    EXPECT_EQ(ask("SELECT count(*) FROM step"), "1\n");
    EXPECT_THAT(ask("PRAGMA table_info(step)"), HasSubstr("1|run|INTEGER|1"));
}

TEST_F(SmallTrace, WrongSqlIsNamed)
{
    EXPECT_EQ(errorOf("SELECT nme FROM slice"),
              "SQL: no such column: nme; the tables and their columns are described in the help page 'trace-format'");
    EXPECT_EQ(errorOf("SELECT 1; SELECT 2"), "SQL: there is more than one statement; ask one at a time");
    EXPECT_EQ(errorOf("  -- nothing"), "SQL: there is no statement; ask with SELECT");
    EXPECT_EQ(ask("SELECT 1;  -- a comment\n ;"), "1\n");
}

TEST_F(SmallTrace, ValuesKeepTheirTypes)
{
    EXPECT_EQ(ask("SELECT NULL, 1, 1.5, 'a', x'0aff', CAST(NULL AS BLOB)"), "NULL|1|1.5|a|x'0aff'|NULL\n");
}

TEST_F(SmallTrace, ARowLimitCutsAndSaysSo)
{
    TraceQuery query(m_path);
    const QueryResult cut = query.run("SELECT id FROM slice", {.rowLimit = 2});
    EXPECT_EQ(cut.rows.size(), 2U);
    EXPECT_TRUE(cut.truncated);
    EXPECT_FALSE(query.run("SELECT id FROM slice", {.rowLimit = 4}).truncated);
    EXPECT_EQ(query.run("SELECT id FROM slice").columns, std::vector<std::string>{"id"});
}

TEST_F(SmallTrace, AnEndlessQueryCanBeStopped)
{
    TraceQuery query(m_path);
    const std::string endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW((void)query.run(endless, {.stop = stop.get_token()}), QueryCancelled);
    std::stop_source later;
    std::jthread stopper([&later] { later.request_stop(); });
    EXPECT_THROW((void)query.run(endless, {.stop = later.get_token()}), QueryCancelled);
    EXPECT_EQ(toText(query.run("SELECT 1")), "1\n") << "the next query is not stopped";
}

TEST_F(SmallTrace, ADamagedBlockIsAnError)
{
    const std::string sql = "SELECT sum(dur_ns) FROM slice";
    std::fstream file(m_path, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::size_t place = bytes.find(std::string("SB\x01", 3));
    ASSERT_NE(place, std::string::npos);
    file.seekp(static_cast<std::streamoff>(place + 2));
    file.put(9);
    file.close();
    EXPECT_THAT(errorOf(sql), HasSubstr("is of an unknown block version"));
}

TEST(TraceQueryTest, AggregatesAgreeWithTheLoadedColumns)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.fp8trace";
    saveTrace(test::makeLoopTrace({.slices = 150'000, .modes = {"bf16", "fp8"}}), path);
    const Trace trace = loadTrace(path);
    const std::int64_t from = trace.runs[1].startNs + 1'000'000;
    const std::int64_t to = from + 50'000'000;
    std::int64_t count = 0, duration = 0, flops = 0;
    for (const Track& track : trace.tracks) {
        const SliceColumns& s = track.slices;
        for (std::size_t i = 0; i < s.size(); ++i) {
            if (s.endNs(i) > from && s.startNs[i] < to) {
                ++count;
                duration += s.durNs[i];
                flops += s.op[i].valid() && trace.op(s.op[i]).phase == Phase::Dgrad ? 1 : 0;
            }
        }
    }
    ASSERT_GT(flops, 10);
    EXPECT_EQ(toText(TraceQuery(path).run(fmt::format(
                  "SELECT count(*), sum(dur_ns), sum(phase = 'dgrad') FROM slice WHERE end_ns > {} AND start_ns < {}",
                  from, to))),
              fmt::format("{}|{}|{}\n", count, duration, flops));
    EXPECT_EQ(toText(TraceQuery(path).run("SELECT count(*) FROM slice")), fmt::format("{}\n", trace.sliceCount()));
}

TEST(TraceQueryTest, AFileThatGrowsIsSeenByTheNextQuery)
{
    const TemporaryFolder folder;
    TraceWriter writer(folder / "a.fp8trace");
    const RunId run = writer.addRun({.mode = "bf16"});
    const ProcessId process = writer.addProcess({});
    const TrackId track = writer.addTrack({.run = run, .process = process});
    const NameId name = writer.addName({.text = "kernel"});
    writer.flush();
    TraceQuery query(writer.path());
    for (std::int64_t n = 1; n < 5; ++n) {
        const std::vector<SliceRecord> slices{{n, 1, name, {}, 0, {}, 0}};
        writer.addSlices(track, slices);
        writer.flush();
        EXPECT_EQ(toText(query.run("SELECT count(*), max(start_ns) FROM slice")), fmt::format("{}|{}\n", n, n));
    }
}

std::string outputOf(const std::string& command)
{
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
        output += static_cast<char>(c);
    ::pclose(pipe);
    return output;
}

TEST_F(SmallTrace, TheSqliteShellReadsSlicesWithTheExtension)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sqlite3 shell is built without the sanitizer that the extension needs";
#endif
    if (outputOf("command -v sqlite3").empty())
        GTEST_SKIP() << "the sqlite3 shell is not installed";
    const std::string load = fmt::format("-cmd '.load {}'", FP8SCOPE_SLICE_EXTENSION);
    EXPECT_EQ(outputOf(fmt::format("sqlite3 -readonly {} {} 'SELECT start_ns, family FROM slice WHERE track = 0' 2>&1",
                                   load, m_path.string())),
              "-2|GEMM fp8\n10|Quantization\n30|Quantization\n");
    EXPECT_EQ(outputOf(fmt::format("sqlite3 -readonly {} {} 'SELECT family, slices FROM family_time' 2>&1", load,
                                   m_path.string())),
              "GEMM fp8|1\nQuantization|2\n");
    EXPECT_EQ(outputOf(fmt::format("sqlite3 -readonly {} 'SELECT mode FROM run' 2>&1", m_path.string())), "fp8\n")
        << "the other tables need no extension";
}

}  // namespace
}  // namespace fp8scope
