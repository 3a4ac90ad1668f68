// SPDX-License-Identifier: Apache-2.0
// The bytes of a column block, shared by encoder and decoder only. Little-endian.
#pragma once

#include "collector/trace/slice_block.h"

#include <array>
#include <bit>
#include <cstring>

namespace fp8scope::block {

static_assert(std::endian::native == std::endian::little, "the block's integers are copied as they are");

inline constexpr std::uint8_t kVersion = 1;

/// How a column's unsigned 64-bit stream is made from its values.
enum class Coding : std::uint8_t {
    Constant,  ///< all equal to `base`; no bytes follow
    Plain,     ///< the values (ids + 1, so that "none" is 0)
    Delta,     ///< zigzag of the difference to the value before; the first to `base`
    Gap,       ///< starts only: zigzag of the difference to the end of the slice before; the first to `base`
};

struct Header {
    std::array<char, 2> magic{'S', 'B'};
    std::uint8_t version = kVersion;
    std::uint8_t columnCount = 0;
    std::uint32_t n = 0;
};

/// One a column, in the order of BlockColumn, after the header; the compressed streams follow in the same order.
struct ColumnEntry {
    BlockColumn column = BlockColumn::Start;
    Coding coding = Coding::Constant;
    std::uint8_t width = 0;  ///< bytes of a value: the stream is `width` planes of n bytes, the lowest bytes first
    std::uint8_t reserved = 0;
    std::uint32_t compressedBytes = 0;  ///< one zstd frame with a checksum
    std::uint64_t base = 0;
};
static_assert(sizeof(Header) == 8 && sizeof(ColumnEntry) == 16);

[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t difference)
{
    return (difference << 1) ^ (0 - (difference >> 63));
}
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

}  // namespace fp8scope::block
