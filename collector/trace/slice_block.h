// SPDX-License-Identifier: Apache-2.0
// The column blocks that slices are stored in: up to 65,536 slices of one track, each column coded, split into byte
// planes and compressed with zstd, behind a small header that is checked before anything is believed. Layout:
// trace-format.md.
#pragma once

#include "collector/trace/slice_record.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace fp8scope {

/// Bits of `slice_block.columns`: the columns that are not "none" in every slice of the block.
enum class BlockColumn : std::uint8_t { Start, Duration, Name, Op, Correlation, LaunchShape, Bytes };
inline constexpr std::uint32_t kBlockColumnCount = 7;
inline constexpr std::uint32_t kAlwaysPresent = 0b0000111;  // start, duration, name
[[nodiscard]] constexpr std::uint32_t bit(BlockColumn column) { return 1U << static_cast<unsigned>(column); }

/// What is wrong with a block's bytes, in one clause. The reader knows file and block and makes an Error of it.
struct BadBlock : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Encodes one block after another, keeping its buffers and compressor.
class BlockEncoder {
public:
    struct Block {
        std::span<const std::byte> data;  ///< valid until the next encode()
        std::uint32_t columns = 0;        ///< bits of BlockColumn
        std::int64_t firstNs = 0;         ///< least start
        std::int64_t lastNs = 0;          ///< greatest end
    };

    BlockEncoder();
    ~BlockEncoder();
    /// 1 to kMaxBlockSlices slices, times within kMaxTimeNs, durations not negative. Throws std::bad_alloc only.
    [[nodiscard]] Block encode(std::span<const SliceRecord> slices);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Where to put a block's columns: each pointer null (not wanted) or to room for the block's slices.
/// Columns that the block lacks are filled with their "none".
struct BlockTarget {
    std::int64_t* startNs = nullptr;
    std::int64_t* durNs = nullptr;
    NameId* name = nullptr;
    OpId* op = nullptr;
    std::uint64_t* correlation = nullptr;
    LaunchShapeId* launchShape = nullptr;
    std::uint64_t* bytes = nullptr;
};

/// What the slices' references must stay below.
struct BlockLimits {
    std::uint32_t names = 0;
    std::uint32_t ops = 0;
    std::uint32_t launchShapes = 0;
};

/// What slice_block's row says of the block; decode() believes none of it.
struct BlockRow {
    std::uint32_t n = 0;
    std::uint32_t columns = 0;
    std::int64_t firstNs = 0;
    std::int64_t lastNs = 0;
};

/// What was seen on the way while a block's starts were decoded.
struct BlockOrder {
    bool oneAfterAnother = true;  ///< sorted, and each slice starts when the one before it has ended
    std::int64_t freeNs = 0;      ///< a slice that starts here or later comes after all of the block
};

/// Decodes one block after another, keeping its buffers and decompressor; one a thread.
class BlockDecoder {
public:
    BlockDecoder();
    ~BlockDecoder();
    /// Writes the wanted columns, and throws BadBlock unless the bytes are whole and of a known version, agree with
    /// `row`, and every time and reference that was decoded holds. Writes nothing outside the target, whatever the
    /// bytes are. The order is meaningful if both times were wanted.
    BlockOrder decode(std::span<const std::byte> data, const BlockRow& row, const BlockLimits& limits,
                      const BlockTarget& target);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace fp8scope
