// SPDX-License-Identifier: Apache-2.0
// Transposes of bytes in tiles of 64 x 64: a tile's column is one cache line of the result, written at once.
#pragma once

#include "engine/kernels/cpu_kernels.h"

#include <cstring>

namespace fp8scope::kernels {

inline constexpr std::size_t kTile = 64;
static_assert(kTile == kRowBlock);

using Bytes16 [[gnu::vector_size(16)]] = std::uint8_t;
using Bytes16InMemory [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = std::uint8_t;

/// Transposes the 16 x 16 bytes at `in` to `out`. Interleaving rows i and i + 8 four times is a transpose.
template <int B>
[[gnu::always_inline]] inline void transpose16x16(const std::uint8_t* in, std::size_t inStride, std::uint8_t* out,
                                                  std::size_t outStride)
{
    constexpr Bytes16 kLow{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    constexpr Bytes16 kHigh{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    Bytes16 rows[16];
    for (std::size_t i = 0; i < 16; ++i)
        rows[i] = *reinterpret_cast<const Bytes16InMemory*>(in + i * inStride);
    for (int round = 0; round < 4; ++round) {
        Bytes16 next[16];
        for (std::size_t i = 0; i < 8; ++i) {
            next[2 * i] = __builtin_shuffle(rows[i], rows[i + 8], kLow);
            next[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + 8], kHigh);
        }
        for (std::size_t i = 0; i < 16; ++i)
            rows[i] = next[i];
    }
    for (std::size_t i = 0; i < 16; ++i)
        *reinterpret_cast<Bytes16InMemory*>(out + i * outStride) = rows[i];
}

/// Transposes a full 64 x 64 tile. It is copied first: the rows of a matrix whose width is a power of two share few
/// cache sets, in which sixteen reads of a line would not find it again.
template <int B>
void transposeTile(const std::uint8_t* in, std::size_t inStride, std::uint8_t* out, std::size_t outStride)
{
    alignas(64) std::uint8_t tile[kTile][kTile];
    for (std::size_t row = 0; row < kTile; ++row)
        std::memcpy(tile[row], in + row * inStride, kTile);
    for (std::size_t column = 0; column < kTile; column += 16) {
        alignas(64) std::uint8_t lines[16][kTile];
        for (std::size_t row = 0; row < kTile; row += 16)
            transpose16x16<B>(&tile[row][column], kTile, &lines[0][row], kTile);
        for (std::size_t i = 0; i < 16; ++i)
            std::memcpy(out + (column + i) * outStride, lines[i], kTile);
    }
}

/// Transposes what is left at the matrix' edges: blocks of 16 x 16, then single bytes.
template <int B>
void transposeEdge(const std::uint8_t* in, std::size_t inStride, std::size_t rows, std::size_t cols, std::uint8_t* out,
                   std::size_t outStride)
{
    const std::size_t blockRows = rows / 16 * 16;
    const std::size_t blockCols = cols / 16 * 16;
    for (std::size_t column = 0; column < blockCols; column += 16)
        for (std::size_t row = 0; row < blockRows; row += 16)
            transpose16x16<B>(in + row * inStride + column, inStride, out + column * outStride + row, outStride);
    for (std::size_t column = 0; column < cols; ++column)
        for (std::size_t row = column < blockCols ? blockRows : 0; row < rows; ++row)
            out[column * outStride + row] = in[row * inStride + column];
}

/// Transposes rows x cols bytes, at most 64 rows of them.
template <int B>
void transposeStrip(const std::uint8_t* in, std::size_t inStride, std::size_t rows, std::size_t cols, std::uint8_t* out,
                    std::size_t outStride)
{
    std::size_t column = 0;
    if (rows == kTile)
        for (; column + kTile <= cols; column += kTile)
            transposeTile<B>(in + column, inStride, out + column * outStride, outStride);
    if (column < cols)
        transposeEdge<B>(in + column, inStride, rows, cols - column, out + column * outStride, outStride);
}

/// Columns that are worked on from the first row to the last before the next ones: the transpose's pages that they
/// touch, one or more a column, then stay in the TLB.
inline constexpr std::size_t kStripColumns = 1024;

/// body(row, rows, column, columns) for strips of at most 64 rows x kStripColumns, from the top down.
template <class Body>
[[gnu::always_inline]] inline void forEachStrip(const RowRange& part, Body&& body)
{
    const auto cols = static_cast<std::size_t>(part.cols);
    const auto end = static_cast<std::size_t>(part.end);
    for (std::size_t column = 0; column < cols; column += kStripColumns)
        for (auto row = static_cast<std::size_t>(part.begin); row < end; row += kTile)
            body(row, end - row < kTile ? end - row : kTile, column,
                 cols - column < kStripColumns ? cols - column : kStripColumns);
}

template <int B>
void transposeKernel(const Fp8* q, const RowRange& part, Fp8* qTransposed)
{
    const auto cols = static_cast<std::size_t>(part.cols);
    const auto rows = static_cast<std::size_t>(part.rows);
    forEachStrip(part, [=](std::size_t row, std::size_t stripRows, std::size_t column, std::size_t stripCols) {
        transposeStrip<B>(q + row * cols + column, cols, stripRows, stripCols, qTransposed + column * rows + row, rows);
    });
}

}  // namespace fp8scope::kernels
