// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/block_store.h"

#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fp8scope {
namespace {

/// All tracks' buffers together, in slices (100 MB). Beyond it the largest is written although its block is not full.
constexpr std::size_t kMaxBuffered = std::size_t{1} << 21;

bool inRange(const SliceRecord& s)
{
    return s.startNs >= -kMaxTimeNs && s.startNs < kMaxTimeNs && s.durNs < kMaxTimeNs;
}

void checkReferences(const SliceRecord& s, const BlockLimits& limits)
{
    const bool holds = s.name.value < limits.names && (s.op.value < limits.ops || !s.op.valid()) &&
                       (s.launchShape.value < limits.launchShapes || !s.launchShape.valid());
    if (!holds)
        throw Error(fmt::format("a slice refers to name {}, op {} or launch shape {}, which was not added before it",
                                s.name.value, s.op.value, s.launchShape.value),
                    {}, "this is a mistake of the program that records");
}

}  // namespace

BlockStore::BlockStore(SQLite::Database& db)
    : m_put(db,
            "INSERT OR REPLACE INTO slice_block(id, track, n, first_ns, last_ns, columns, data) VALUES(?,?,?,?,?,?,?)"),
      m_remove(db, "DELETE FROM slice_block WHERE id = ?")
{}

void BlockStore::add(std::uint32_t track, std::span<const SliceRecord> slices, const BlockLimits& limits)
{
    TrackBuffer& buffer = m_tracks[track];
    while (!slices.empty()) {
        const std::size_t room = std::min(kMaxBlockSlices - buffer.slices.size(), slices.size());
        append(buffer, slices.first(room), limits);
        slices = slices.subspan(room);
        if (buffer.slices.size() == kMaxBlockSlices)
            writeWhole(track);
    }
    boundMemory();
}

void BlockStore::append(TrackBuffer& track, std::span<const SliceRecord> slices, const BlockLimits& limits)
{
    for (SliceRecord slice : slices) {
        checkReferences(slice, limits);
        if (!inRange(slice)) {
            ++track.oddities.timesOutOfRange;
            continue;
        }
        if (slice.durNs < 0) {
            ++track.oddities.negativeDurations;
            slice.durNs = 0;
        }
        track.slices.push_back(slice);
    }
}

void BlockStore::flush()
{
    for (std::uint32_t track = 0; track < m_tracks.size(); ++track)
        writeTail(track);
}

void BlockStore::finish()
{
    for (std::uint32_t track = 0; track < m_tracks.size(); ++track) {
        const TrackBuffer& buffer = m_tracks[track];
        const bool inOneBlock = buffer.written.size() == 1 && buffer.written[0].size() == buffer.slices.size();
        if (!buffer.slices.empty() && !inOneBlock)
            writeWhole(track);
    }
}

/// What is new becomes a short block together with the short blocks before it that are no longer: a slice is so
/// rewritten a logarithm of times, and the file has a logarithm of short blocks a track.
void BlockStore::writeTail(std::uint32_t track)
{
    TrackBuffer& buffer = m_tracks[track];
    std::size_t begin = buffer.written.empty() ? 0 : buffer.written.back().end;
    const std::size_t end = buffer.slices.size();
    if (begin == end)
        return;
    std::int64_t id = -1;
    while (!buffer.written.empty() && buffer.written.back().size() <= end - begin) {
        if (id >= 0)
            remove(id);
        id = buffer.written.back().id;
        begin = buffer.written.back().begin;
        buffer.written.pop_back();
    }
    if (id < 0)
        id = m_nextId++;
    putBlock(id, track, std::span(buffer.slices).subspan(begin));
    buffer.written.push_back(ShortBlock{id, begin, end});
}

void BlockStore::writeWhole(std::uint32_t track)
{
    TrackBuffer& buffer = m_tracks[track];
    for (std::size_t i = 1; i < buffer.written.size(); ++i)
        remove(buffer.written[i].id);
    putBlock(buffer.written.empty() ? m_nextId++ : buffer.written.front().id, track, buffer.slices);
    buffer.written.clear();
    buffer.slices.clear();
}

void BlockStore::putBlock(std::int64_t id, std::uint32_t track, std::span<const SliceRecord> slices)
{
    const BlockEncoder::Block block = m_encoder.encode(slices);
    m_put.bind(1, id);
    m_put.bind(2, track);
    m_put.bind(3, static_cast<std::int64_t>(slices.size()));
    m_put.bind(4, block.firstNs);
    m_put.bind(5, block.lastNs);
    m_put.bind(6, block.columns);
    m_put.bindNoCopy(7, block.data.data(), static_cast<int>(block.data.size()));
    m_put.exec();
    m_put.reset();
}

void BlockStore::remove(std::int64_t id)
{
    m_remove.bind(1, id);
    m_remove.exec();
    m_remove.reset();
}

void BlockStore::boundMemory()
{
    std::size_t held = 0;
    for (const TrackBuffer& buffer : m_tracks)
        held += buffer.slices.capacity();
    while (held > kMaxBuffered) {
        const auto largest = std::max_element(m_tracks.begin(), m_tracks.end(), [](const auto& a, const auto& b) {
            return a.slices.capacity() < b.slices.capacity();
        });
        held -= largest->slices.capacity();
        if (!largest->slices.empty())
            writeWhole(static_cast<std::uint32_t>(largest - m_tracks.begin()));
        largest->slices = {};
    }
}

BlockStore::Oddities BlockStore::takeOddities(std::uint32_t track)
{
    return std::exchange(m_tracks[track].oddities, {});
}

}  // namespace fp8scope
