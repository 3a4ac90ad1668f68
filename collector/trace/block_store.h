// SPDX-License-Identifier: Apache-2.0
// The writer's slices: a buffer a track, written as column blocks. A flush writes what is buffered as a short block,
// which is merged with later ones until the block is full, so that a file flushed every step stays as compact as one
// written at once.
#pragma once

#include "collector/trace/slice_block.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <span>
#include <vector>

namespace fp8scope {

class BlockStore {
public:
    /// Slices that were not as they should be; counted, and told once.
    struct Oddities {
        std::uint64_t negativeDurations = 0;  ///< kept with duration 0
        std::uint64_t timesOutOfRange = 0;    ///< dropped
    };

    explicit BlockStore(SQLite::Database& db);

    void addTrack() { m_tracks.emplace_back(); }
    /// Throws Error for a reference beyond `limits`, SQLite::Exception when the file cannot be written.
    void add(std::uint32_t track, std::span<const SliceRecord> slices, const BlockLimits& limits);
    /// Writes what is not yet in the file. The buffers keep the slices of blocks that are not full, for merging.
    void flush();
    /// Merges each track's short blocks into one.
    void finish();
    [[nodiscard]] Oddities takeOddities(std::uint32_t track);

private:
    /// Slices [begin, end) of a track's buffer that stand in the file as one short block.
    struct ShortBlock {
        std::int64_t id;
        std::size_t begin;
        std::size_t end;
        [[nodiscard]] std::size_t size() const { return end - begin; }
    };
    struct TrackBuffer {
        std::vector<SliceRecord> slices;  ///< since the last full block
        std::vector<ShortBlock> written;  ///< of these; in order, without holes
        Oddities oddities;
    };

    void append(TrackBuffer& track, std::span<const SliceRecord> slices, const BlockLimits& limits);
    void writeTail(std::uint32_t track);
    void writeWhole(std::uint32_t track);
    void putBlock(std::int64_t id, std::uint32_t track, std::span<const SliceRecord> slices);
    void remove(std::int64_t id);
    void boundMemory();

    SQLite::Statement m_put;
    SQLite::Statement m_remove;
    BlockEncoder m_encoder;
    std::vector<TrackBuffer> m_tracks;
    std::int64_t m_nextId = 0;
};

}  // namespace fp8scope
