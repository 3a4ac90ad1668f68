// SPDX-License-Identifier: Apache-2.0
// How fast an nsys export is read: rows a second, and the time against a plain SELECT of the same columns through
// SQLite's C functions, in alternating turns. The aims are 1.5 million rows/s and at most 1.5 times the SELECT's time.
// Processor time, so that other programs do not count. Usage: bench_nsys [STEPS [TURNS]]; default 3000 5.
#include "collector/import/nsys_reader.h"
#include "tests/support/nsys_database.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

namespace fp8scope {
namespace {

double cpuSeconds()
{
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The columns that the reader takes of each table.
constexpr const char* kSelects[] = {
    "SELECT start, end, globalTid, nameId, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, "
    "graphNodeId, gridX, gridY, "
    "gridZ, blockX, blockY, blockZ, clusterX, clusterY, clusterZ, registersPerThread, staticSharedMemory, "
    "dynamicSharedMemory FROM "
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind "
    "FROM "
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, memKind, graphNodeId FROM "
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "SELECT start, end, eventType, text, textId, globalTid, domainId FROM NVTX_EVENTS",
};

struct Selected {
    std::uint64_t rows = 0;
    std::int64_t sum = 0;  ///< so that no column is left out
};

Selected select(const std::filesystem::path& path)
{
    sqlite3* db = nullptr;
    const std::string uri = "file:" + path.string() + "?mode=ro&immutable=1";
    if (sqlite3_open_v2(uri.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr) !=
        SQLITE_OK)
        throw std::runtime_error("the generated file cannot be opened");
    Selected selected;
    for (const char* sql : kSelects) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) != SQLITE_OK)
            throw std::runtime_error(sqlite3_errmsg(db));
        const int columns = sqlite3_column_count(statement);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            for (int c = 0; c < columns; ++c)
                selected.sum += sqlite3_column_int64(statement, c);
            ++selected.rows;
        }
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
    return selected;
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

void bench(std::uint32_t steps, int turns)
{
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "bench.sqlite";
    test::writeNsysDatabase(path, {.loop = {.steps = steps, .layers = 24}});
    std::vector<double> selects, reads, ratios;
    std::uint64_t rows = 0;
    for (int turn = 0; turn <= turns; ++turn) {
        const double begin = cpuSeconds();
        const Selected selected = select(path);
        const double middle = cpuSeconds();
        const import::RawEvents events = import::readNsys(path);
        const double end = cpuSeconds();
        rows = selected.rows;
        if (turn == 0)
            continue;  // warms the page cache
        selects.push_back(middle - begin);
        reads.push_back(end - middle);
        ratios.push_back((end - middle) / (middle - begin));
    }
    fmt::print("{} rows, {:.0f} MB\n", rows, static_cast<double>(std::filesystem::file_size(path)) * 1e-6);
    fmt::print("SELECT  {:.3f} s  {:.2f} million rows/s\n", median(selects),
               static_cast<double>(rows) * 1e-6 / median(selects));
    fmt::print("read    {:.3f} s  {:.2f} million rows/s (aim 1.5)\n", median(reads),
               static_cast<double>(rows) * 1e-6 / median(reads));
    fmt::print("ratio   {:.2f} (aim at most 1.5)\n", median(ratios));
}

}  // namespace
}  // namespace fp8scope

int main(int argc, char** argv)
{
    const int steps = argc > 1 ? std::atoi(argv[1]) : 3000;
    const int turns = argc > 2 ? std::atoi(argv[2]) : 5;
    if (steps < 1 || turns < 1) {
        fmt::print(stderr, "usage: bench_nsys [STEPS [TURNS]]\n");
        return 2;
    }
    fp8scope::bench(static_cast<std::uint32_t>(steps), turns);
    return 0;
}
