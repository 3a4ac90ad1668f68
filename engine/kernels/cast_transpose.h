// SPDX-License-Identifier: Apache-2.0
// One read of a bf16 matrix (or of an activation's input) writes its fp8 tensor, the transpose, the amax, the counters and
// partial column sums: strip by strip, whose rows are cast as they are read and transposed while they are in the cache.
#pragma once

#include "engine/kernels/activation.h"
#include "engine/kernels/bias.h"
#include "engine/kernels/cast.h"
#include "engine/kernels/transpose.h"

namespace fp8scope::kernels {

static_assert(kStripColumns <= kCastPiece);

/// Where a strip's rows come from: memory as it is.
struct StoredRows {
    [[gnu::always_inline]] const Bf16* row(const Bf16* x, std::size_t) { return x; }
};

/// ... or an activation of what is in memory.
template <int B>
struct ActivatedRows {
    const Activation& function;
    Bf16 values[kStripColumns];
    [[gnu::always_inline]] const Bf16* row(const Bf16* z, std::size_t n)
    {
        activate<B>(function, z, n, values);
        return values;
    }
};

/// Asks for a row's piece ahead of time: hardware prefetchers start anew at each row, for it is in another page.
inline void prefetchRow(const Bf16* x, std::size_t n)
{
    constexpr std::size_t kLine = 64 / sizeof(Bf16);
    for (std::size_t i = 0; i < n; i += kLine)
        __builtin_prefetch(x + i);
}

template <int B, DType Type, class Rows>
CastResult castTransposeStrip(const CastTransposeArgs& args, Rows& source, std::size_t row, std::size_t rows,
                              std::size_t column, std::size_t cols)
{
    // A pad of one line keeps the rows of a transpose's tile out of each other's cache sets.
    constexpr std::size_t kPitch = kStripColumns + 64;
    alignas(64) Fp8 codes[kTile * kPitch];
    const auto stride = static_cast<std::size_t>(args.part.cols);
    const auto height = static_cast<std::size_t>(args.part.rows);

    float* sums = args.columnPartials == nullptr ? nullptr : args.columnPartials + row / kTile * stride + column;
    if (sums != nullptr)
        std::memset(sums, 0, cols * sizeof(float));
    CastResult result;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t first = (row + i) * stride + column;
        if (i + 1 < rows)
            prefetchRow(args.x + first + stride, cols);
        const Bf16* values = source.row(args.x + first, cols);
        add(result, castPiece<B, Type>(values, cols, args.scale, codes + i * kPitch));
        if (sums != nullptr)
            addRow<B>(values, cols, sums);
        if (args.q != nullptr)
            std::memcpy(args.q + first, codes + i * kPitch, cols);
    }
    transposeStrip<B>(codes, kPitch, rows, cols, args.qTransposed + column * height + row, height);
    return result;
}

template <int B, class Rows>
CastResult castTransposeRows(const CastTransposeArgs& args, Rows source)
{
    CastResult whole;
    forEachStrip(args.part, [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t cols) {
        add(whole, args.format == DType::E4m3
                       ? castTransposeStrip<B, DType::E4m3>(args, source, row, rows, column, cols)
                       : castTransposeStrip<B, DType::E5m2>(args, source, row, rows, column, cols));
    });
    return whole;
}

template <int B>
CastResult castTransposeKernel(const CastTransposeArgs& args)
{
    return castTransposeRows<B>(args, StoredRows{});
}

template <int B>
CastResult actCastTransposeKernel(const Activation& function, const CastTransposeArgs& args)
{
    return castTransposeRows<B>(args, ActivatedRows<B>{function, {}});
}

}  // namespace fp8scope::kernels
