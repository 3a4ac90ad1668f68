// SPDX-License-Identifier: Apache-2.0
// First the blocks' index, which gives each block its place in the columns; then every thread takes the next block from
// the one cursor (reading costs a fifth of decoding) and decodes it into its place. Tracks whose slices overlap or
// stand out of order are then sorted and given lanes; the others, nearly all, are ready as they are.
#include "collector/trace/slice_loader.h"

#include "collector/trace/error.h"
#include "collector/trace/slice_block.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace fp8scope {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(40);
constexpr const char* kMend = "copy the file again from where it was recorded, or record again";

struct IndexedBlock {
    std::int64_t id = 0;
    std::uint32_t track = 0;
    BlockRow row;
    std::size_t offset = 0;  ///< of its first slice in the track's columns
    BlockOrder order;        ///< set when decoded
};

class SliceLoader {
public:
    SliceLoader(const std::filesystem::path& path, SQLite::Database& db, const LoadOptions& options, Trace& trace)
        : m_path(path), m_options(options), m_trace(trace),
          m_cursor(db, "SELECT id, data FROM slice_block ORDER BY id"),
          m_limits{static_cast<std::uint32_t>(trace.names.size()), static_cast<std::uint32_t>(trace.ops.size()),
                   static_cast<std::uint32_t>(trace.launchShapes.size())}
    {
        readIndex(db);
    }

    void load()
    {
        makeRoom();
        runOnThreads(m_blocks.size(), "slices", [this] { decodeBlocks(); });
        m_done = 0;
        const std::vector<std::uint32_t> tracks = tracksToFinish();
        std::atomic<std::size_t> next = 0;
        runOnThreads(tracks.size(), "lanes", [&] {
            for (std::size_t i = next++; i < tracks.size() && !stopping(); i = next++) {
                finishTrack(m_trace.tracks[tracks[i]]);
                m_done += m_trace.tracks[tracks[i]].slices.size();
            }
        });
    }

private:
    void readIndex(SQLite::Database& db);
    void makeRoom();
    void decodeBlocks();
    bool takeBlock(std::size_t& index, std::vector<std::byte>& data);
    [[nodiscard]] BlockTarget placeOf(const IndexedBlock& block);
    [[nodiscard]] std::vector<std::uint32_t> tracksToFinish() const;
    template <typename Work>
    void runOnThreads(std::size_t tasks, const char* stage, const Work& work);
    [[nodiscard]] bool stopping() const { return m_failed || m_options.stop.stop_requested(); }
    [[nodiscard]] Error bad(const IndexedBlock& block, const std::string& clause) const
    {
        return Error(fmt::format("slice block {} of track {} {}", block.id, block.track, clause), m_path.string(),
                     kMend);
    }

    const std::filesystem::path& m_path;
    const LoadOptions& m_options;
    Trace& m_trace;
    SQLite::Statement m_cursor;  ///< guarded by m_cursorMutex, as m_next is
    std::mutex m_cursorMutex;
    std::size_t m_next = 0;
    BlockLimits m_limits;
    std::vector<IndexedBlock> m_blocks;
    std::vector<std::size_t> m_trackSlices;
    std::vector<std::uint32_t> m_trackColumns;
    std::uint64_t m_total = 0;
    std::atomic<std::uint64_t> m_done = 0;
    std::atomic<bool> m_failed = false;
};

void SliceLoader::readIndex(SQLite::Database& db)
{
    m_trackSlices.resize(m_trace.tracks.size());
    m_trackColumns.resize(m_trace.tracks.size());
    SQLite::Statement rows(db, "SELECT id, track, n, columns, first_ns, last_ns FROM slice_block ORDER BY id");
    while (rows.executeStep()) {
        IndexedBlock block{.id = rows.getColumn(0).getInt64()};
        const std::int64_t track = rows.getColumn(1).getInt64();
        const std::int64_t n = rows.getColumn(2).getInt64();
        const std::int64_t columns = rows.getColumn(3).getInt64();
        if (track < 0 || track >= static_cast<std::int64_t>(m_trace.tracks.size()))
            throw Error(fmt::format("slice block {} refers to track {} of {}", block.id, track, m_trace.tracks.size()),
                        m_path.string(), kMend);
        block.track = static_cast<std::uint32_t>(track);
        if (n < 1 || n > static_cast<std::int64_t>(kMaxBlockSlices) || columns < 0 || columns >> kBlockColumnCount != 0)
            throw bad(block, fmt::format("claims {} slices and columns {:#x}", n, columns));
        block.row = {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(columns), rows.getColumn(4).getInt64(),
                     rows.getColumn(5).getInt64()};
        block.offset = m_trackSlices[block.track];
        m_trackSlices[block.track] += block.row.n;
        m_trackColumns[block.track] |= block.row.columns;
        m_total += block.row.n;
        m_blocks.push_back(block);
    }
}

/// Refuses what this machine cannot hold before it starts to swap: a small hostile file can claim terabytes.
void SliceLoader::makeRoom()
{
    const auto has = [](std::uint32_t columns, BlockColumn column) { return (columns & bit(column)) != 0; };
    std::uint64_t needed = 0;
    for (std::size_t t = 0; t < m_trackSlices.size(); ++t) {
        if (m_trackSlices[t] > UINT32_MAX)
            throw Error(fmt::format("track {} has {} slices, more than can be shown", t, m_trackSlices[t]),
                        m_path.string(), "record for a shorter time");
        const std::uint32_t columns = m_trackColumns[t];
        needed += m_trackSlices[t] *
                  (24U + (has(columns, BlockColumn::Correlation) ? 8U : 0U) +
                   (has(columns, BlockColumn::LaunchShape) ? 4U : 0U) + (has(columns, BlockColumn::Bytes) ? 8U : 0U));
    }
    const auto memory =
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (needed > memory)
        throw Error(fmt::format("{} slices need {:.1f} GB of memory, this machine has {:.1f}", m_total,
                                static_cast<double>(needed) / 1e9, static_cast<double>(memory) / 1e9),
                    m_path.string(), "open it on a larger machine, or ask for parts of it with 'fp8scope query'");
    for (std::size_t t = 0; t < m_trackSlices.size(); ++t) {
        SliceColumns& slices = m_trace.tracks[t].slices;
        const std::size_t n = m_trackSlices[t];
        slices.startNs.resize(n);
        slices.durNs.resize(n);
        slices.name.resize(n);
        slices.op.resize(n);
        slices.correlation.resize(has(m_trackColumns[t], BlockColumn::Correlation) ? n : 0);
        slices.launchShape.resize(has(m_trackColumns[t], BlockColumn::LaunchShape) ? n : 0);
        slices.bytes.resize(has(m_trackColumns[t], BlockColumn::Bytes) ? n : 0);
    }
}

BlockTarget SliceLoader::placeOf(const IndexedBlock& block)
{
    SliceColumns& slices = m_trace.tracks[block.track].slices;
    const auto at = [&block](auto& column) { return column.empty() ? nullptr : column.data() + block.offset; };
    return {at(slices.startNs),     at(slices.durNs),       at(slices.name), at(slices.op),
            at(slices.correlation), at(slices.launchShape), at(slices.bytes)};
}

bool SliceLoader::takeBlock(std::size_t& index, std::vector<std::byte>& data)
{
    const std::lock_guard lock(m_cursorMutex);
    if (stopping() || m_next == m_blocks.size())
        return false;
    index = m_next++;
    if (!m_cursor.executeStep() || m_cursor.getColumn(0).getInt64() != m_blocks[index].id)
        throw bad(m_blocks[index], "does not stand where the index has it");
    const SQLite::Column column = m_cursor.getColumn(1);
    const auto* const begin = static_cast<const std::byte*>(column.getBlob());
    data.assign(begin, begin + column.getBytes());
    return true;
}

void SliceLoader::decodeBlocks()
{
    BlockDecoder decoder;
    std::vector<std::byte> data;
    std::size_t index = 0;
    while (takeBlock(index, data)) {
        IndexedBlock& block = m_blocks[index];
        try {
            block.order = decoder.decode(data, block.row, m_limits, placeOf(block));
        } catch (const BadBlock& e) {
            throw bad(block, e.what());
        }
        m_done += block.row.n;
    }
}

std::vector<std::uint32_t> SliceLoader::tracksToFinish() const
{
    std::vector<std::int64_t> freeNs(m_trackSlices.size(), INT64_MIN);
    std::vector<bool> ready(m_trackSlices.size(), true);
    for (const IndexedBlock& block : m_blocks) {
        if (!block.order.oneAfterAnother || block.row.firstNs < freeNs[block.track])
            ready[block.track] = false;
        freeNs[block.track] = block.order.freeNs;
    }
    std::vector<std::uint32_t> tracks;
    for (std::uint32_t t = 0; t < ready.size(); ++t) {
        if (!ready[t])
            tracks.push_back(t);
    }
    return tracks;
}

/// Runs `work` on as many threads as asked for, while this one tells the progress; then throws what the first of them
/// threw.
template <typename Work>
void SliceLoader::runOnThreads(std::size_t tasks, const char* stage, const Work& work)
{
    std::mutex mutex;
    std::condition_variable ended;
    std::exception_ptr failure;
    std::size_t running =
        std::min<std::size_t>(tasks, m_options.threads > 0 ? m_options.threads : std::thread::hardware_concurrency());
    const auto tell = [&] {
        if (m_options.onProgress)
            m_options.onProgress({stage, m_done, m_total});
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = running; i-- > 0;) {
            threads.emplace_back([&] {
                std::exception_ptr thrown;
                try {
                    work();
                } catch (...) {
                    m_failed = true;
                    thrown = std::current_exception();
                }
                const std::lock_guard lock(mutex);
                if (thrown && !failure)
                    failure = thrown;
                --running;
                ended.notify_one();
            });
        }
        std::unique_lock lock(mutex);
        while (!ended.wait_for(lock, kProgressInterval, [&] { return running == 0; })) {
            lock.unlock();
            tell();
            lock.lock();
        }
    }
    if (failure)
        std::rethrow_exception(failure);
    if (m_options.stop.stop_requested())
        throw LoadCancelled{};
    tell();
}

}  // namespace

void loadSlices(const std::filesystem::path& path, SQLite::Database& db, const LoadOptions& options, Trace& trace)
{
    SliceLoader(path, db, options, trace).load();
}

}  // namespace fp8scope
