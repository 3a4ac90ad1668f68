// SPDX-License-Identifier: Apache-2.0
// One read of a bf16 matrix (or of an activation's input) writes its fp8 tensor, the transpose, the amax, the counters
// and partial column sums: rows are cast in memory's order, as DRAM likes it, and transposed in groups while they are
// in the cache.
#pragma once

#include "engine/kernels/activation.h"
#include "engine/kernels/bias.h"
#include "engine/kernels/cast.h"
#include "engine/kernels/transpose.h"

#include <algorithm>
#include <cstring>

namespace fp8scope::kernels
{

/// Where rows come from: memory as it is.
struct StoredRows {
    [[gnu::always_inline]] const Bf16* piece(const Bf16* x, std::size_t) { return x; }
};

/// ... or an activation of what is in memory.
template <int B>
struct ActivatedRows {
    const Activation& function;
    Bf16 values[kCastPiece];
    [[gnu::always_inline]] const Bf16* piece(const Bf16* z, std::size_t n)
    {
        activate<B>(function, z, n, values);
        return values;
    }
};

/// Rows that are cast before they are transposed: few enough to be in the cache still, and enough for the transpose to
/// write some adjacent lines of a column.
inline constexpr std::int64_t kGroupRows = 256;
static_assert(kGroupRows % kRowBlock == 0);

template <int B, DType Type, class Rows>
CastResult castRow(const CastTransposeArgs& args, Rows& source, std::size_t row, float* sums)
{
    const auto cols = static_cast<std::size_t>(args.part.cols);
    CastResult result;
    for (std::size_t column = 0; column < cols; column += kCastPiece) {
        const std::size_t n = cols - column < kCastPiece ? cols - column : kCastPiece;
        const Bf16* values = source.piece(args.x + row * cols + column, n);
        add(result, castPiece<B, Type>(values, n, args.scale, args.q + row * cols + column));
        if (sums != nullptr)
            addRow<B>(values, n, sums + column);
    }
    return result;
}

/// The partial sums that a row adds to, cleared before a block's first row; null when none are wanted.
inline float* partialSums(const CastTransposeArgs& args, std::int64_t row)
{
    if (args.columnPartials == nullptr)
        return nullptr;
    float* sums = args.columnPartials + row / kRowBlock * args.part.cols;
    if (row % kRowBlock == 0)
        std::memset(sums, 0, static_cast<std::size_t>(args.part.cols) * sizeof(float));
    return sums;
}

template <int B, DType Type, class Rows>
CastResult castTransposeRows(const CastTransposeArgs& args, Rows source)
{
    CastResult result;
    RowRange group = args.part;
    for (; group.begin < args.part.end; group.begin = group.end) {
        group.end = std::min(group.begin + kGroupRows, args.part.end);
        for (std::int64_t row = group.begin; row < group.end; ++row)
            add(result, castRow<B, Type>(args, source, static_cast<std::size_t>(row), partialSums(args, row)));
        transposeKernel<B>(args.q, group, args.qTransposed);
    }
    return result;
}

template <int B>
CastResult castTransposeKernel(const CastTransposeArgs& args)
{
    return args.format == DType::E4m3 ? castTransposeRows<B, DType::E4m3>(args, StoredRows{})
                                      : castTransposeRows<B, DType::E5m2>(args, StoredRows{});
}

template <int B>
CastResult actCastTransposeKernel(const Activation& function, const CastTransposeArgs& args)
{
    return args.format == DType::E4m3 ? castTransposeRows<B, DType::E4m3>(args, ActivatedRows<B>{function, {}})
                                      : castTransposeRows<B, DType::E5m2>(args, ActivatedRows<B>{function, {}});
}

}  // namespace fp8scope::kernels
