// SPDX-License-Identifier: Apache-2.0
// What a trace costs: bytes a slice, slices a second written and loaded, and where the time goes, on a generated
// training loop. Baselines of the same run: plain SQLite rows (what a trace would be without column blocks), and
// copying the columns in memory. Usage: bench_trace [SLICES [FOLDER]]; default 10,000,000 slices in the temporary
// folder.
#include "collector/trace/block_layout.h"
#include "collector/trace/slice_block.h"
#include "collector/trace/trace_file.h"
#include "collector/trace/trace_reader.h"
#include "collector/trace/trace_writer.h"
#include "tests/support/loop_trace.h"
#include "tests/support/temporary_folder.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <zstd.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

namespace fp8scope {
namespace {

constexpr int kRepeats = 5;

/// Wall and processor time (of all threads), in seconds.
struct Cost {
    double wall = 0;
    double cpu = 0;
};

Cost operator-(Cost a, Cost b) { return {a.wall - b.wall, a.cpu - b.cpu}; }

double cpuSeconds()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Cost cost(const std::function<void()>& work)
{
    const double cpu = cpuSeconds();
    const auto begin = std::chrono::steady_clock::now();
    work();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), cpuSeconds() - cpu};
}

/// The least of some repeats: what the code costs, not what the machine did besides.
Cost best(const std::function<void()>& work)
{
    Cost least = cost(work);
    for (int i = 1; i < kRepeats; ++i) {
        const Cost again = cost(work);
        least = {std::min(least.wall, again.wall), std::min(least.cpu, again.cpu)};
    }
    return least;
}

void print(const std::string& what, double slices, Cost c)
{
    fmt::print("  {:<52} {:>7.1f} M slices/s {:>8.2f} ns a slice, {:>8.2f} ns of processor\n", what,
               slices / c.wall / 1e6, c.wall / slices * 1e9, c.cpu / slices * 1e9);
}

/// A generated trace as records in the order in which a recorder would get them, a few thousand at a time.
struct Recording {
    Trace trace;
    std::vector<std::vector<SliceRecord>> tracks;
    std::size_t slices = 0;

    explicit Recording(std::size_t wanted) : trace(test::makeLoopTrace({.slices = wanted}))
    {
        for (const Track& track : trace.tracks) {
            const SliceColumns& s = track.slices;
            std::vector<SliceRecord>& records = tracks.emplace_back(s.size());
            for (std::size_t i = 0; i < s.size(); ++i)
                records[i] = {s.startNs[i],
                              s.durNs[i],
                              s.name[i],
                              s.op[i],
                              s.correlation.empty() ? 0 : s.correlation[i],
                              s.launchShape.empty() ? LaunchShapeId() : s.launchShape[i],
                              s.bytes.empty() ? 0 : s.bytes[i]};
            slices += s.size();
        }
    }
};

/// Through the writer, as the recorder does: batches of each track in turn, a durable flush every million slices (0.1 s
/// at the rate wanted).
void write(const Recording& recording, const std::filesystem::path& path)
{
    constexpr std::size_t kBatch = 4096;
    constexpr std::size_t kFlushEvery = 1'000'000;
    TraceWriter writer(path, TraceWriter::IfExists::Replace);
    const Trace& trace = recording.trace;
    for (const Run& run : trace.runs)
        (void)writer.addRun(run);
    (void)writer.addProcess(trace.processes[0]);
    (void)writer.addDevice(trace.devices[0]);
    for (const Layer& layer : trace.layers)
        (void)writer.addLayer(layer);
    for (const TraceOp& op : trace.ops)
        (void)writer.addOp(op);
    for (const Track& track : trace.tracks)
        (void)writer.addTrack(track);
    for (const Name& name : trace.names)
        (void)writer.addName(name);
    for (const LaunchShape& shape : trace.launchShapes)
        (void)writer.addLaunchShape(shape);
    std::size_t sinceFlush = 0;
    std::vector<std::size_t> next(trace.tracks.size());
    for (bool more = true; more;) {
        more = false;
        for (std::uint32_t t = 0; t < next.size(); ++t) {
            const std::size_t n = std::min(kBatch, recording.tracks[t].size() - next[t]);
            if (n == 0)
                continue;
            writer.addSlices(TrackId(t), std::span(recording.tracks[t]).subspan(next[t], n));
            next[t] += n;
            sinceFlush += n;
            more = true;
        }
        if (sinceFlush >= kFlushEvery) {
            writer.flush();
            sinceFlush = 0;
        }
    }
    writer.close();
}

void writeStages(const Recording& recording)
{
    BlockEncoder encoder;
    const Cost encode = best([&] {
        for (const std::vector<SliceRecord>& records : recording.tracks) {
            for (std::size_t i = 0; i < records.size(); i += kMaxBlockSlices)
                benchmark::DoNotOptimize(
                    encoder.encode(std::span(records).subspan(i, std::min(kMaxBlockSlices, records.size() - i))));
        }
    });
    print("  of which coding and compressing", static_cast<double>(recording.slices), encode);
}

/// The same slices as rows of a plain table, in one transaction.
Cost writeRows(const Recording& recording, const std::filesystem::path& path, std::size_t limit)
{
    return cost([&] {
        SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        db.exec("PRAGMA journal_mode = WAL");
        db.exec("CREATE TABLE slice(id INTEGER PRIMARY KEY, track INTEGER, start INTEGER, dur INTEGER, name INTEGER, "
                "op INTEGER, "
                "correlation INTEGER)");
        SQLite::Transaction transaction(db);
        SQLite::Statement insert(db, "INSERT INTO slice(track, start, dur, name, op, correlation) VALUES(?,?,?,?,?,?)");
        std::size_t done = 0;
        for (std::size_t t = 0; t < recording.tracks.size() && done < limit; ++t) {
            for (std::size_t i = 0; i < recording.tracks[t].size() && done < limit; ++i, ++done) {
                const SliceRecord& s = recording.tracks[t][i];
                insert.bind(1, static_cast<std::int64_t>(t));
                insert.bind(2, s.startNs);
                insert.bind(3, s.durNs);
                insert.bind(4, s.name.value);
                insert.bind(5, s.op.value);
                insert.bind(6, static_cast<std::int64_t>(s.correlation));
                insert.exec();
                insert.reset();
            }
        }
        transaction.commit();
    });
}

Cost scanRows(const std::filesystem::path& path)
{
    SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
    return best([&] {
        SQLite::Statement rows(db, "SELECT track, start, dur, name, op, correlation FROM slice");
        std::int64_t sum = 0;
        while (rows.executeStep()) {
            for (int c = 0; c < 6; ++c)
                sum += rows.getColumn(c).getInt64();
        }
        benchmark::DoNotOptimize(sum);
    });
}

struct StoredBlock {
    BlockRow row;
    std::vector<std::byte> data;
};

std::vector<StoredBlock> readBlocks(const std::filesystem::path& path)
{
    SQLite::Database db = openTraceFile(path);
    SQLite::Statement rows(db, "SELECT n, columns, first_ns, last_ns, data FROM slice_block ORDER BY id");
    std::vector<StoredBlock> blocks;
    while (rows.executeStep()) {
        const SQLite::Column data = rows.getColumn(4);
        const auto* const begin = static_cast<const std::byte*>(data.getBlob());
        blocks.push_back({{rows.getColumn(0).getUInt(), rows.getColumn(1).getUInt(), rows.getColumn(2).getInt64(),
                           rows.getColumn(3).getInt64()},
                          {begin, begin + data.getBytes()}});
    }
    return blocks;
}

/// zstd alone, on every stream of every block.
void decompress(const std::vector<StoredBlock>& blocks)
{
    std::vector<std::byte> planes(kMaxBlockSlices * 8);
    ZSTD_DCtx* const zstd = ZSTD_createDCtx();
    for (const StoredBlock& stored : blocks) {
        block::Header header;
        std::memcpy(&header, stored.data.data(), sizeof(header));
        const std::byte* stream = stored.data.data() + sizeof(header) + header.columnCount * sizeof(block::ColumnEntry);
        for (std::size_t c = 0; c < header.columnCount; ++c) {
            block::ColumnEntry entry;
            std::memcpy(&entry, stored.data.data() + sizeof(header) + c * sizeof(entry), sizeof(entry));
            if (entry.width > 0)
                benchmark::DoNotOptimize(
                    ZSTD_decompressDCtx(zstd, planes.data(), planes.size(), stream, entry.compressedBytes));
            stream += entry.compressedBytes;
        }
    }
    ZSTD_freeDCtx(zstd);
}

/// All of decoding, into the same memory again and again.
void decode(const std::vector<StoredBlock>& blocks, const Trace& trace)
{
    const BlockLimits limits{static_cast<std::uint32_t>(trace.names.size()),
                             static_cast<std::uint32_t>(trace.ops.size()),
                             static_cast<std::uint32_t>(trace.launchShapes.size())};
    SliceColumns s;
    s.startNs.resize(kMaxBlockSlices);
    s.durNs.resize(kMaxBlockSlices);
    s.name.resize(kMaxBlockSlices);
    s.op.resize(kMaxBlockSlices);
    s.correlation.resize(kMaxBlockSlices);
    s.launchShape.resize(kMaxBlockSlices);
    s.bytes.resize(kMaxBlockSlices);
    BlockDecoder decoder;
    for (const StoredBlock& block : blocks) {
        const auto wanted = [&](auto& column, BlockColumn which) {
            return (block.row.columns & bit(which)) != 0 ? column.data() : nullptr;
        };
        benchmark::DoNotOptimize(
            decoder.decode(block.data, block.row, limits,
                           {s.startNs.data(), s.durNs.data(), s.name.data(), s.op.data(),
                            wanted(s.correlation, BlockColumn::Correlation),
                            wanted(s.launchShape, BlockColumn::LaunchShape), wanted(s.bytes, BlockColumn::Bytes)}));
    }
}

std::size_t bytesInMemory(const Trace& trace)
{
    return std::accumulate(trace.tracks.begin(), trace.tracks.end(), std::size_t{0},
                           [](std::size_t sum, const Track& t) {
                               const SliceColumns& s = t.slices;
                               return sum + s.size() * 24 + s.correlation.size() * 8 + s.launchShape.size() * 4 +
                                      s.bytes.size() * 8 + s.lane.size();
                           });
}

void loadStages(const Recording& recording, const std::filesystem::path& path)
{
    const auto slices = static_cast<double>(recording.slices);
    const Cost read = best([&] { benchmark::DoNotOptimize(readBlocks(path)); });
    const std::vector<StoredBlock> blocks = readBlocks(path);
    const Cost zstd = best([&] { decompress(blocks); });
    const Cost all = best([&] { decode(blocks, recording.trace); });
    Trace trace = loadTrace(path);
    const Cost lanes = best([&] { finishTracks(trace); });
    const Cost copy = best([&] {
        for (const Track& track : trace.tracks)
            benchmark::DoNotOptimize(SliceColumns(track.slices));
    });
    fmt::print("stages of loading, each alone on one core\n");
    print("reading the blocks from SQLite", slices, read);
    print("zstd", slices, zstd);
    print("joining planes, sums, checks", slices, all - zstd);
    print("order and lanes, where not known from the blocks", slices, lanes);
    print(fmt::format("baseline: copying the columns ({:.1f} bytes a slice)",
                      static_cast<double>(bytesInMemory(trace)) / slices),
          slices, copy);
}

void benchmarkTrace(std::size_t wanted, const std::filesystem::path& folder)
{
    fmt::print("generating {} slices\n", wanted);
    const Recording recording(wanted);
    const auto slices = static_cast<double>(recording.slices);
    const std::filesystem::path path = folder / "loop.fp8trace";
    const std::filesystem::path rowsPath = folder / "rows.sqlite";

    fmt::print("writing {} slices of {} tracks\n", recording.slices, recording.tracks.size());
    const Cost written = best([&] { write(recording, path); });
    print("TraceWriter, durable flushes and close included", slices, written);
    writeStages(recording);
    const std::size_t rowLimit = std::min<std::size_t>(recording.slices, 1'000'000);
    const auto rowCount = static_cast<double>(rowLimit);
    const Cost rows = writeRows(recording, rowsPath, rowLimit);
    print("baseline: rows of a plain table, one transaction", rowCount, rows);
    fmt::print("  ratio: {:.0f} times the rows' rate\n", rows.wall / rowCount * slices / written.wall);
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    const auto rowBytes = static_cast<double>(std::filesystem::file_size(rowsPath));
    fmt::print("size: {:.2f} bytes a slice, rows {:.2f}\n", bytes / slices, rowBytes / rowCount);

    fmt::print("loading\n");
    for (const unsigned threads : {1U, 2U}) {
        const Cost loaded = best([&] { benchmark::DoNotOptimize(loadTrace(path, {.threads = threads})); });
        print(fmt::format("loadTrace, {} thread{}", threads, threads == 1 ? "" : "s"), slices, loaded);
        if (threads == 2) {
            const Cost scanned = scanRows(rowsPath);
            print("baseline: scan of the rows", rowCount, scanned);
            fmt::print("  ratio: {:.0f} times the scan's rate\n", scanned.wall / rowCount * slices / loaded.wall);
        }
    }
    loadStages(recording, path);
}

}  // namespace
}  // namespace fp8scope

int main(int argc, char** argv)
{
    try {
        const std::size_t slices = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
        if (argc > 2) {
            fp8scope::benchmarkTrace(slices, argv[2]);
        } else {
            const fp8scope::test::TemporaryFolder folder;
            fp8scope::benchmarkTrace(slices, folder.path());
        }
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_trace: {}\n", e.what());
        return 1;
    }
}
