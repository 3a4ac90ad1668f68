// SPDX-License-Identifier: Apache-2.0
// Quantization with a scale for each block, row by row, column by column for the transpose, or both from one read of x.
// Works on tiles of 128 x 128, which are copied first: rows of a power-of-two width share few cache sets.
#pragma once

#include "engine/kernels/activation.h"
#include "engine/kernels/bias.h"
#include "engine/kernels/column_cast.h"

#include <algorithm>
#include <cstring>

namespace fp8scope::kernels {

/// A tile of x in a buffer, and its place.
struct BlockTile {
    static constexpr std::size_t kSide = static_cast<std::size_t>(kScaleBlock);
    alignas(64) Bf16 x[kSide * kSide];
    alignas(64) Fp8 q[kSide * kSide];  ///< codes on their way to the transpose
    std::size_t row = 0, col = 0;      ///< of the first element in the matrix
    std::size_t rows = 0, cols = 0;    ///< in use

    [[nodiscard]] const Bf16* at(std::size_t r, std::size_t c) const { return x + r * kSide + c; }
};

/// The scale of a block with this amax; its dequantization factor goes to `position` of the scale buffer.
inline float chooseScale(const BlockScaling& rule, float amax, std::uint8_t* scales, std::int64_t position)
{
    if (rule.mode == ScaleMode::Vec32Ue8m0) {
        const std::uint8_t code = e8m0FromAmax(amax, rule.format, rule.rounding);
        scales[position] = code;
        return scaleOfE8m0(code);
    }
    const float scale = blockScale(amax, rule.format, rule.minAmax, rule.powerOfTwo);
    const float inverse = 1.0F / scale;
    std::memcpy(scales + position * 4, &inverse, sizeof inverse);
    return scale;
}

template <int B>
float tileAmax(const BlockTile& tile)
{
    float amax = 0;
    for (std::size_t r = 0; r < tile.rows; ++r)
        amax = maxAmax(amax, amaxKernel<B>({tile.at(r, 0), tile.cols}));
    return amax;
}

/// q with scales for blocks of a row.
template <int B, DType Type>
CastCounts castTileRows(const BlockTile& tile, const BlockCastArgs& args)
{
    const ScaleLayout layout{args.scaling.mode, args.part.rows, args.part.cols, args.scaling.swizzled};
    const auto block = static_cast<std::size_t>(layout.innerBlock());
    CastCounts counts;
    for (std::size_t r = 0; r < tile.rows; ++r) {
        Fp8* const q = args.q + (tile.row + r) * static_cast<std::size_t>(args.part.cols) + tile.col;
        for (std::size_t c = 0; c < tile.cols; c += block) {
            const std::size_t n = std::min(block, tile.cols - c);
            const float amax = amaxKernel<B>({tile.at(r, c), n});
            const std::int64_t position = layout.index(static_cast<std::int64_t>(tile.row + r),
                                                       static_cast<std::int64_t>((tile.col + c) / block));
            const float scale = chooseScale(args.scaling, amax, args.scales, position);
            counts += castBelow<B, Type>(amax, tile.at(r, c), n, scale, q + c);
        }
    }
    return counts;
}

inline void transposeTileCodes(const BlockTile& tile, const BlockCastArgs& args,
                               void (*strip)(const std::uint8_t*, std::size_t, std::size_t, std::size_t, std::uint8_t*,
                                             std::size_t))
{
    const auto rows = static_cast<std::size_t>(args.part.rows);
    for (std::size_t r = 0; r < tile.rows; r += kTile)
        strip(tile.q + r * BlockTile::kSide, BlockTile::kSide, std::min(kTile, tile.rows - r), tile.cols,
              args.qTransposed + tile.col * rows + tile.row + r, rows);
}

/// The scales of the columns of rows [first, end) of a tile; true if every product with them is ordinary (cast.h).
template <int B>
bool chooseColumnScales(const BlockTile& tile, const BlockCastArgs& args, const ScaleLayout& layout, std::size_t first,
                        std::size_t end, float* scales)
{
    Bf16 magnitudes[BlockTile::kSide] = {};
    constexpr auto kSide = static_cast<std::int64_t>(BlockTile::kSide);
    columnAmaxKernel<B>(tile.x,
                        {.rows = kSide,
                         .cols = kSide,
                         .begin = static_cast<std::int64_t>(first),
                         .end = static_cast<std::int64_t>(end)},
                        magnitudes);
    bool ordinary = true;
    const std::int64_t inner = static_cast<std::int64_t>(tile.row + first) / layout.innerBlock();
    for (std::size_t c = 0; c < tile.cols; ++c) {
        const float amax = decodeBf16(magnitudes[c]);
        scales[c] = chooseScale(args.scaling, amax, args.scalesTransposed,
                                layout.index(static_cast<std::int64_t>(tile.col + c), inner));
        ordinary = ordinary && scales[c] >= kLeastOrdinaryScale && amax * scales[c] <= fp8Max(args.scaling.format);
    }
    return ordinary;
}

/// The transpose with scales for blocks of a column.
template <int B, DType Type>
CastCounts castTileColumns(BlockTile& tile, const BlockCastArgs& args)
{
    const ScaleLayout layout{args.scaling.mode, args.part.cols, args.part.rows, args.scaling.swizzled};
    const auto block = static_cast<std::size_t>(layout.innerBlock());
    const bool counted = args.q == nullptr;
    CastCounts counts;
    float scales[BlockTile::kSide];
    for (std::size_t first = 0; first < tile.rows; first += block) {
        const std::size_t end = std::min(first + block, tile.rows);
        const bool ordinary = chooseColumnScales<B>(tile, args, layout, first, end, scales);
        for (std::size_t r = first; r < end; ++r) {
            Fp8* const q = tile.q + r * BlockTile::kSide;
            if (ordinary && !counted)
                castColumnsOrdinary<B, Type>(tile.at(r, 0), tile.cols, scales, q);
            else
                counts += castColumnsCarefully<B, Type>(tile.at(r, 0), tile.cols, scales, q);
        }
    }
    transposeTileCodes(tile, args, transposeStrip<B>);
    return counted ? counts : CastCounts{};
}

/// One scale for the tile: the transpose has the same codes.
template <int B, DType Type>
CastCounts castSquare(BlockTile& tile, const BlockCastArgs& args, float amax)
{
    const std::int64_t row = static_cast<std::int64_t>(tile.row) / kScaleBlock;
    const std::int64_t col = static_cast<std::int64_t>(tile.col) / kScaleBlock;
    float scale = 1;
    if (args.q != nullptr)
        scale = chooseScale(args.scaling, amax, args.scales,
                            ScaleLayout{args.scaling.mode, args.part.rows, args.part.cols}.index(row, col));
    if (args.qTransposed != nullptr)
        scale = chooseScale(args.scaling, amax, args.scalesTransposed,
                            ScaleLayout{args.scaling.mode, args.part.cols, args.part.rows}.index(col, row));
    CastCounts counts;
    for (std::size_t r = 0; r < tile.rows; ++r) {
        Fp8* const codes = tile.q + r * BlockTile::kSide;
        counts += castBelow<B, Type>(amax, tile.at(r, 0), tile.cols, scale, codes);
        if (args.q != nullptr)
            std::memcpy(args.q + (tile.row + r) * static_cast<std::size_t>(args.part.cols) + tile.col, codes,
                        tile.cols);
    }
    if (args.qTransposed != nullptr)
        transposeTileCodes(tile, args, transposeStrip<B>);
    return counts;
}

template <int B, DType Type>
CastResult castTile(BlockTile& tile, const BlockCastArgs& args)
{
    CastResult result{.amax = tileAmax<B>(tile), .counts = {}};
    if (args.scaling.mode == ScaleMode::Blk128x128_32F) {
        result.counts = castSquare<B, Type>(tile, args, result.amax);
        return result;
    }
    if (args.q != nullptr)
        result.counts += castTileRows<B, Type>(tile, args);
    if (args.qTransposed != nullptr)
        result.counts += castTileColumns<B, Type>(tile, args);
    return result;
}

/// Copies a tile of x into its buffer, through the activation if there is one.
template <int B>
void loadTile(const BlockCastArgs& args, BlockTile& tile)
{
    const auto cols = static_cast<std::size_t>(args.part.cols);
    for (std::size_t r = 0; r < tile.rows; ++r) {
        const Bf16* const from = args.x + (tile.row + r) * cols + tile.col;
        Bf16* const to = tile.x + r * BlockTile::kSide;
        if (args.activation != nullptr)
            activate<B>(*args.activation, from, tile.cols, to);
        else
            std::memcpy(to, from, tile.cols * sizeof(Bf16));
    }
}

template <int B>
CastResult blockCastKernel(const BlockCastArgs& args)
{
    BlockTile tile{};
    CastResult result;
    const auto cols = static_cast<std::size_t>(args.part.cols);
    const auto end = static_cast<std::size_t>(args.part.end);
    for (tile.row = static_cast<std::size_t>(args.part.begin); tile.row < end; tile.row += BlockTile::kSide) {
        tile.rows = std::min(BlockTile::kSide, end - tile.row);
        for (tile.col = 0; tile.col < cols; tile.col += BlockTile::kSide) {
            tile.cols = std::min(BlockTile::kSide, cols - tile.col);
            loadTile<B>(args, tile);
            add(result, args.scaling.format == DType::E4m3 ? castTile<B, DType::E4m3>(tile, args)
                                                           : castTile<B, DType::E5m2>(tile, args));
        }
    }
    if (args.columnPartials != nullptr)
        biasGradKernel<B>(args.x, args.part, args.columnPartials);
    return result;
}

}  // namespace fp8scope::kernels
