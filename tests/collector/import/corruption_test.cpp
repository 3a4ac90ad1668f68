// SPDX-License-Identifier: Apache-2.0
// A thousand damaged files, the same each time: every one opens as a whole trace or is refused with an Error, soon and
// in little memory. Meant to run under the sanitizers as well.
#include "collector/import/import.h"

#include "collector/trace/error.h"
#include "collector/trace/slice_record.h"
#include "tests/support/kineto_json.h"
#include "tests/support/nsys_database.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace fp8scope::import {
namespace {

using Random = std::mt19937_64;

constexpr auto kMostTime = std::chrono::seconds(10);  ///< for one file; they take milliseconds
#ifdef __SANITIZE_ADDRESS__
constexpr long kQuarantineKiB = 256 * 1024;  ///< AddressSanitizer keeps that much freed memory back
#else
constexpr long kQuarantineKiB = 0;
#endif
constexpr long kMostGrowthKiB = 400 * 1024 + kQuarantineKiB;  ///< of the process, over all files
constexpr int kPerFile = 100;

std::string readFile(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const std::filesystem::path& path, std::string_view bytes)
{
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string gzipped(const std::string& text, const std::filesystem::path& scratch)
{
    gzFile file = gzopen(scratch.c_str(), "wb1");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return readFile(scratch);
}

/// One member of a tar archive (ustar).
std::string tarMember(const std::string& name, const std::string& content)
{
    std::string header(512, '\0');
    name.copy(header.data(), 100);
    fmt::format_to(header.begin() + 100, "0000644");
    fmt::format_to(header.begin() + 124, "{:011o}", content.size());
    header[156] = '0';
    fmt::format_to(header.begin() + 257, "ustar");
    std::fill_n(header.begin() + 148, 8, ' ');
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    fmt::format_to(header.begin() + 148, "{:06o}", sum);
    header[154] = '\0';
    return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string some(Random& random, std::initializer_list<const char*> values)
{
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
}

void flipBits(std::string& bytes, Random& random)
{
    for (auto n = 1 + random() % 20; n > 0; --n)
        bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
}

void overwritePart(std::string& bytes, Random& random)
{
    const std::size_t at = random() % bytes.size();
    const std::size_t n = std::min<std::size_t>(1 + random() % 64, bytes.size() - at);
    for (std::size_t i = 0; i < n; ++i)
        bytes[at + i] = static_cast<char>(random());
}

void moveParts(std::string& bytes, Random& random)
{
    const std::size_t from = random() % bytes.size();
    const std::string part = bytes.substr(from, 1 + random() % 4096);
    if (random() % 2 == 0)
        bytes.erase(from, part.size());
    bytes.insert(random() % (bytes.size() + 1), part);
}

/// Values of other types where numbers, names and objects were.
void swapJsonTypes(std::string& json, Random& random)
{
    for (auto n = 1 + random() % 10; n > 0; --n) {
        const std::size_t at = json.find("\": ", random() % json.size());
        if (at == std::string::npos)
            return;
        const std::size_t end = json.find_first_of(",}\n", at + 3);
        json.replace(
            at + 3, std::min(end, json.size()) - at - 3,
            some(random, {"null", "true", "\"text\"", "-1", "1e400", "99999999999999999999999", "[]", "[[[[", "{}",
                          "{\"a\": 1", "\"\\ud800\"", "18446744073709551615", "0.0000001", "NaN", "-0"}));
    }
}

std::vector<std::string> namesOf(sqlite3* db, const std::string& sql, int column)
{
    std::vector<std::string> names;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK)
        while (sqlite3_step(statement) == SQLITE_ROW)
            names.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
    sqlite3_finalize(statement);
    return names;
}

/// The same in tables, and columns that are gone.
void swapSqlTypes(const std::filesystem::path& path, Random& random)
{
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
    const auto tables = namesOf(db, "SELECT name FROM sqlite_schema WHERE type = 'table'", 0);
    for (auto n = 1 + random() % 8; n > 0; --n) {
        const std::string& table = tables[random() % tables.size()];
        const auto columns = namesOf(db, "PRAGMA table_info(\"" + table + "\")", 1);
        const std::string& column = columns[random() % columns.size()];
        const std::string value =
            some(random, {"NULL", "'text'", "x'ff00fe'", "1e300", "-1", "9223372036854775807", "-9223372036854775808",
                          "zeroblob(5000)", "CAST(x'ff41' AS TEXT)", "4294967296"});
        const std::string sql = random() % 8 == 0
                                    ? fmt::format("ALTER TABLE \"{}\" DROP COLUMN \"{}\"", table, column)
                                    : fmt::format("UPDATE OR IGNORE \"{}\" SET \"{}\" = {} WHERE rowid % {} = 0", table,
                                                  column, value, 1 + random() % 3);
        sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
    }
    sqlite3_close(db);
}

bool isSqlite(const std::string& bytes) { return bytes.starts_with("SQLite format 3"); }

void writeCorrupted(const std::string& whole, Random& random, const std::filesystem::path& path)
{
    std::string bytes = whole;
    switch (random() % 5) {
    case 0: bytes.resize(random() % bytes.size()); break;
    case 1: flipBits(bytes, random); break;
    case 2: overwritePart(bytes, random); break;
    case 3: moveParts(bytes, random); break;
    default:
        if (isSqlite(bytes)) {
            writeFile(path, bytes);
            return swapSqlTypes(path, random);
        }
        swapJsonTypes(bytes, random);
        break;
    }
    writeFile(path, bytes);
}

/// What readers of a trace take for granted.
void expectWhole(const Trace& trace)
{
    for (const Track& track : trace.tracks) {
        const SliceColumns& s = track.slices;
        ASSERT_LT(track.run.value, trace.runs.size());
        ASSERT_TRUE(!track.process.valid() || track.process.value < trace.processes.size());
        ASSERT_TRUE(!track.device.valid() || track.device.value < trace.devices.size());
        ASSERT_TRUE(s.name.size() == s.size() && s.op.size() == s.size() && s.durNs.size() == s.size());
        ASSERT_TRUE(s.correlation.empty() || s.correlation.size() == s.size());
        for (std::size_t i = 0; i < s.size(); ++i) {
            ASSERT_LT(s.name[i].value, trace.names.size());
            ASSERT_TRUE(!s.op[i].valid() || s.op[i].value < trace.ops.size());
            ASSERT_TRUE(s.durNs[i] >= 0 && s.durNs[i] < kMaxTimeNs && s.startNs[i] > -kMaxTimeNs &&
                        s.startNs[i] < kMaxTimeNs);
            ASSERT_TRUE(i == 0 || s.startNs[i - 1] <= s.startNs[i]);
            ASSERT_TRUE(s.launchShape.empty() || !s.launchShape[i].valid() ||
                        s.launchShape[i].value < trace.launchShapes.size());
        }
    }
    for (const TraceOp& op : trace.ops)
        ASSERT_TRUE(op.run.value < trace.runs.size() && (!op.layer.valid() || op.layer.value < trace.layers.size()));
    for (const Step& step : trace.steps)
        ASSERT_TRUE(step.run.value < trace.runs.size() && step.durNs >= 0);
    for (const Sample& sample : trace.samples)
        ASSERT_LT(sample.track.value, trace.tracks.size());
}

long peakKiB()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

class Corruption : public testing::Test {
protected:
    struct Outcome {
        int opened = 0, refused = 0;
    };

    /// Corrupts the file `times` times; `seed` and the round name a failure.
    Outcome corrupt(const std::string& whole, const char* name, int times, std::uint64_t seed)
    {
        Outcome outcome;
        const std::filesystem::path path = m_folder / name;
        for (int round = 0; round < times && !HasFatalFailure(); ++round) {
            SCOPED_TRACE(fmt::format("{}, seed {}, round {}", name, seed, round));
            Random random(seed * 1000 + static_cast<std::uint64_t>(round));
            writeCorrupted(whole, random, path);
            const auto begin = std::chrono::steady_clock::now();
            try {
                const std::filesystem::path paths[] = {path};
                expectWhole(importFiles(paths, {.threads = 2}));
                ++outcome.opened;
            } catch (const Error& e) {
                EXPECT_NE(std::string(e.what()), "");
                ++outcome.refused;
            }
            EXPECT_LT(std::chrono::steady_clock::now() - begin, kMostTime);
        }
        return outcome;
    }

    test::TemporaryFolder m_folder;
};

TEST_F(Corruption, OfAThousandFilesCrashesNothing)
{
    using test::KinetoGeneration;
    using test::NsysGeneration;
    const auto kineto = [](test::KinetoFile file) { return test::kinetoJson(file); };
    const auto nsys = [&](test::NsysFile file) {
        test::writeNsysDatabase(m_folder / "whole.sqlite", file);
        return readFile(m_folder / "whole.sqlite");
    };
    const std::string ranks = tarMember("rank0.json", kineto({.loop = {.steps = 2}, .rank = 0})) +
                              tarMember("rank1.json", kineto({.loop = {.steps = 2}, .rank = 1})) +
                              std::string(1024, '\0');
    const std::pair<const char*, std::string> files[] = {
        {"recent.json", kineto({})},
        {"2021.json", kineto({.generation = KinetoGeneration::Early2021})},
        {"packed.json.gz", gzipped(kineto({.generation = KinetoGeneration::Y2026}), m_folder / "scratch.gz")},
        {"array.json", kineto({.generation = KinetoGeneration::Rocm, .bareArray = true})},
        {"events-first.json", kineto({.generation = KinetoGeneration::April2024, .eventsFirst = true})},
        {"ranks.tar", ranks},
        {"nsys-2025.sqlite", nsys({.processes = 2})},
        {"nsys-2021.sqlite", nsys({.generation = NsysGeneration::V2021})},
        {"nsys-2026.sqlite", nsys({.generation = NsysGeneration::Schema3_27, .graphTrace = true})},
        {"hand-made.sqlite", nsys({.generation = NsysGeneration::Minimal})},
    };
    const long before = peakKiB();
    std::uint64_t seed = 0;
    for (const auto& [name, whole] : files) {
        const Outcome outcome = corrupt(whole, name, kPerFile, ++seed);
        // Damage of all kinds was done: some of it cannot be survived, some can.
        EXPECT_EQ(outcome.opened + outcome.refused, kPerFile) << name;
        EXPECT_GT(outcome.opened, 0) << name;
        EXPECT_GT(outcome.refused + (isSqlite(whole) ? 0 : 1), 0) << name;
    }
    EXPECT_LT(peakKiB() - before, kMostGrowthKiB);
}

TEST_F(Corruption, OfRealFilesCrashesNothing)
{
    const auto traces = std::filesystem::path(FP8SCOPE_SOURCE_FOLDER) / "../shared/data/traces";
    if (!std::filesystem::exists(traces))
        GTEST_SKIP() << "no real traces beside this checkout";
    const long before = peakKiB();
    std::uint64_t seed = 100;
    for (const char* name :
         {"kineto/evals_nv_moe_01.json.gz", "kineto/trace_compare_base_base.json.gz",
          "kineto/harryjmoss_empty_gpu_capture.json", "kineto/amd_trace_mi250_minitoy_train_ROCm6_2_kineto.json.gz",
          "kineto/torch_compile_triton_trace.json.gz", "kineto/inference_vllm_decode_full_graph_execution.json.gz",
          "kineto/evals_gemm_01_compute_few_tiles.json", "nsys/healthy_1pct.sqlite", "nsys/nsight-2025.5.2.sqlite",
          "nsys/saxpy-mpi-cuda_nsys_perlmutter0.sqlite"}) {
        const std::filesystem::path path = traces / name;
        if (!std::filesystem::exists(path))
            continue;
        const Outcome outcome = corrupt(readFile(path), path.filename().c_str(), 10, ++seed);
        EXPECT_EQ(outcome.opened + outcome.refused, 10) << name;
    }
    EXPECT_LT(peakKiB() - before, kMostGrowthKiB);
}

}  // namespace
}  // namespace fp8scope::import
