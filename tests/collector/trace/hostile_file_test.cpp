// SPDX-License-Identifier: Apache-2.0
// Files that are no trace, are damaged, or lie: one sentence each, never a crash. Meant to run under the sanitizers as
// well.
#include "collector/trace/error.h"
#include "collector/trace/schema.h"
#include "collector/trace/trace_query.h"
#include "collector/trace/trace_reader.h"
#include "collector/trace/trace_writer.h"
#include "tests/support/loop_trace.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <random>

namespace fp8scope {
namespace {

using test::TemporaryFolder;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string readFile(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// As a new file: ext4 syncs one that was truncated and written again when it is closed, which takes longer than to
/// load it.
void writeFile(const std::filesystem::path& path, std::string_view bytes)
{
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string loadError(const std::filesystem::path& path)
{
    try {
        (void)loadTrace(path, {.threads = 1});
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

class HostileFile : public testing::Test {
protected:
    HostileFile()
    {
        Trace trace = test::makeLoopTrace({.slices = 600, .modes = {"fp8"}, .layers = 2});
        trace.tensorStats.push_back({.run = RunId(0), .layer = LayerId(1), .tensor = "layer1.x", .format = "e4m3"});
        trace.diagnostics.push_back({RunId(0), "dropped", Severity::DataLoss, 1, "why"});
        saveTrace(trace, m_path);
    }

    /// Changes the trace as no writer would.
    void execute(const std::string& sql)
    {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(m_path.c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    }
    /// What is said after the file's name.
    std::string complaintAfter(const std::string& sql)
    {
        execute(sql);
        const std::string error = loadError(m_path);
        EXPECT_THAT(error, StartsWith(m_path.string() + ": "));
        return error.substr(std::min(error.size(), m_path.string().size() + 2));
    }

    TemporaryFolder m_folder;
    std::filesystem::path m_path = m_folder / "a.fp8trace";
};

TEST_F(HostileFile, IsNotThere)
{
    EXPECT_EQ(loadError(m_folder / "b.fp8trace"),
              (m_folder / "b.fp8trace").string() + ": there is no such file; check the name");
    EXPECT_THAT(loadError(m_folder.path()), HasSubstr("this is not a file"));
}

TEST_F(HostileFile, IsEmpty)
{
    writeFile(m_path, "");
    EXPECT_THAT(loadError(m_path), EndsWith(": the file is empty; open another file, or record again"));
}

TEST_F(HostileFile, IsNotSqlite)
{
    writeFile(m_path, "{\"traceEvents\": []}");
    EXPECT_THAT(loadError(m_path), HasSubstr("this is not a trace: not a SQLite file"));
    writeFile(m_path, "S");
    EXPECT_THAT(loadError(m_path), HasSubstr("truncated within its first bytes"));
}

TEST_F(HostileFile, IsAnotherProgramsSqlite)
{
    EXPECT_THAT(complaintAfter("PRAGMA application_id = 0"), StartsWith("this is a SQLite file, but not a trace"));
}

TEST_F(HostileFile, IsOfANewerVersion)
{
    EXPECT_EQ(complaintAfter("PRAGMA user_version = 7"),
              "the trace has format version 7, this fp8scope reads up to version 1; update fp8scope");
}

TEST_F(HostileFile, HasOtherTables)
{
    EXPECT_THAT(complaintAfter("DROP TABLE step"),
                StartsWith("table 'step' is missing or is not that of format version 1"));
}

TEST_F(HostileFile, HasAViewInATablesPlace)
{
    EXPECT_THAT(
        complaintAfter(
            "DROP TABLE sample; CREATE VIEW sample AS WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 "
            "FROM n) SELECT id, 0 AS track, 0 AS time_ns, 0.0 AS value FROM n"),
        StartsWith("table 'sample' is missing"));
}

TEST_F(HostileFile, HasReferencesToNothing)
{
    EXPECT_THAT(complaintAfter("UPDATE op SET layer = 99 WHERE id = 3"),
                StartsWith("row 3 of table 'op' refers to row 99 of a table of 2"));
    EXPECT_THAT(complaintAfter("UPDATE op SET layer = 0; UPDATE step SET run = -1"),
                StartsWith("row 0 of table 'step' refers to row -1"));
}

TEST_F(HostileFile, HasHolesInItsIds)
{
    EXPECT_THAT(complaintAfter("DELETE FROM name WHERE id = 1"),
                StartsWith("table 'name' has row 2 where row 1 should be"));
}

TEST_F(HostileFile, HasUnknownWords)
{
    EXPECT_THAT(complaintAfter("UPDATE name SET role = 'gemmm' WHERE id = 0"),
                StartsWith("row 0 of table 'name' has the unknown word 'gemmm'"));
    EXPECT_THAT(complaintAfter("UPDATE name SET role = 'gemm'; UPDATE op SET fused = 'bias,' || char(10) WHERE id = 0"),
                StartsWith("row 0 of table 'op' has the unknown role"));
}

TEST_F(HostileFile, HasNumbersOutOfRange)
{
    EXPECT_THAT(complaintAfter("UPDATE step SET dur_ns = -1 WHERE id = 0"),
                HasSubstr("has a duration out of range (-1 ns)"));
    EXPECT_THAT(complaintAfter("UPDATE step SET dur_ns = 1, number = 1 << 40 WHERE id = 0"),
                HasSubstr("out of range in column number"));
}

TEST_F(HostileFile, LacksOnlyTablesThatCameLaterAndOpens)
{
    const std::string text = test::toText(loadTrace(m_path));
    execute("DROP TABLE exponent_histogram; DROP TABLE step_value; DROP TABLE tensor_error");
    EXPECT_EQ(test::toText(loadTrace(m_path)), text);
}

TEST_F(HostileFile, HasCountsThatAreNone)
{
    const std::string_view kInsert =
        "INSERT INTO exponent_histogram VALUES(0, 0, 1, NULL, 'layer0.x', 'e4m3', -3, '{}')";
    for (const char* counts : {"", "[", "7", "[1,]", "[,1]", "[1;2]", "[-1]", "[99999999999999999999]"}) {
        execute("DELETE FROM exponent_histogram");
        EXPECT_THAT(complaintAfter(fmt::format(fmt::runtime(kInsert), counts)),
                    HasSubstr("has something that is not a list of counts"))
            << counts;
    }
    execute("DELETE FROM exponent_histogram");
    execute(fmt::format(fmt::runtime(kInsert), "[1,2]"));
    EXPECT_EQ(loadTrace(m_path).histograms.at(0).counts, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(HostileFile, HasBlocksOfNoTrack)
{
    EXPECT_THAT(complaintAfter("UPDATE slice_block SET track = 1000 WHERE id = 2"),
                StartsWith("slice block 2 refers to track 1000 of 7"));
}

TEST_F(HostileFile, HasBlocksThatClaimTooMuch)
{
    EXPECT_THAT(complaintAfter("UPDATE slice_block SET n = 1 << 50 WHERE id = 0"),
                HasSubstr("claims 1125899906842624 slices"));
    EXPECT_THAT(complaintAfter("UPDATE slice_block SET n = 7 WHERE id = 0"),
                HasSubstr("slice block 0 of track 0 disagrees with its row"));
}

TEST_F(HostileFile, HasBlocksThatReferToNothing)
{
    EXPECT_THAT(complaintAfter("DELETE FROM op WHERE id > 2"), HasSubstr("refers to a row that does not exist"));
}

TEST_F(HostileFile, HasMoreSlicesThanMemory)
{
    std::string sql = "PRAGMA journal_mode = OFF; UPDATE slice_block SET n = 65536;";
    for (int doubling = 0; doubling < 15; ++doubling)
        sql += "INSERT INTO slice_block(track, n, first_ns, last_ns, columns, data) SELECT track, 65536, first_ns, "
               "last_ns, columns, x'00' "
               "FROM slice_block;";
    EXPECT_THAT(complaintAfter(sql),
                testing::AnyOf(HasSubstr("GB of memory, this machine has"), HasSubstr("disagrees with its row")));
}

TEST_F(HostileFile, HasTextThatIsNotUtf8)
{
    execute("UPDATE name SET text = CAST(x'6bff6b' AS TEXT) WHERE id = 0");
    EXPECT_EQ(loadTrace(m_path).names[0].text, "k\xef\xbf\xbdk");
}

TEST_F(HostileFile, IsTruncatedAnywhere)
{
    const std::string whole = readFile(m_path);
    for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 7 : 4096 - 13) {
        writeFile(m_path, std::string_view(whole).substr(0, size));
        EXPECT_THAT(loadError(m_path), StartsWith(m_path.string() + ": ")) << size;
    }
}

/// Flips bits, overwrites runs, and asks both readers. Seeded: a failure repeats.
TEST_F(HostileFile, IsCorruptedAtRandom)
{
    const std::string whole = readFile(m_path);
    const std::string text = test::toText(loadTrace(m_path));
    std::mt19937 random(20261201);
    const auto at = [&](std::size_t below) { return random() % below; };
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string bytes = whole;
        const int changes = 1 + static_cast<int>(at(4));
        for (int i = 0; i < changes; ++i) {
            const std::size_t place = round % 3 == 0 ? at(std::min<std::size_t>(bytes.size(), 8192)) : at(bytes.size());
            if (at(4) == 0)
                bytes.replace(place, 1 + at(16), 1 + at(16), static_cast<char>(random()));
            else
                bytes[place] = static_cast<char>(bytes[place] ^ (1 << at(8)));
        }
        if (at(10) == 0)
            bytes.resize(at(bytes.size()));
        writeFile(m_path, bytes);
        try {
            const Trace trace = loadTrace(m_path, {.threads = 1});
            if (round % 10 == 0) {  // what was accepted can be used
                EXPECT_LT(test::toText(trace).size(), 4 * text.size() + (1 << 20)) << "round " << round;
            }
        } catch (const Error& e) {
            ++refused;
            EXPECT_THAT(e.what(), StartsWith(m_path.string() + ": ")) << "round " << round;
        }
        if (round % 10 == 0) {
            try {
                (void)TraceQuery(m_path).run(
                    "SELECT name, layer, phase, bytes, correlation FROM slice WHERE start_ns > 5000");
            } catch (const Error&) {
            }
        }
    }
    EXPECT_GT(refused, 300) << "most of a small file is free space and text, but not all";
}

}  // namespace
}  // namespace fp8scope
