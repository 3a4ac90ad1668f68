// SPDX-License-Identifier: Apache-2.0
// One read of a bf16 matrix (or of an activation's input) from memory gives its fp8 tensor, the transpose, the amax,
// the counters and partial column sums: each step works on rows that the step before left in the cache.
#pragma once

#include "engine/kernels/activation.h"
#include "engine/kernels/bias.h"
#include "engine/kernels/cast.h"
#include "engine/kernels/transpose.h"

#include <algorithm>

namespace fp8scope::kernels {

/// Rows that are cast before they are transposed: few enough to be in the cache still, and enough for the transpose to
/// write some adjacent lines of a column. Casting goes through memory in its order, tiles would not, and DRAM likes
/// that.
inline constexpr std::int64_t kGroupRows = 256;
static_assert(kGroupRows % kRowBlock == 0);

/// body(rows) for the part's rows, at most `step` at once.
template <class Body>
[[gnu::always_inline]] inline void forEachRowGroup(const RowRange& part, std::int64_t step, Body&& body)
{
    RowRange rows = part;
    for (; rows.begin < part.end; rows.begin = rows.end) {
        rows.end = std::min(rows.begin + step, part.end);
        body(rows);
    }
}

/// The elements of some rows.
template <class T>
[[nodiscard]] std::span<T> elementsOf(T* matrix, const RowRange& rows)
{
    return {matrix + rows.begin * rows.cols, static_cast<std::size_t>((rows.end - rows.begin) * rows.cols)};
}

template <int B>
CastResult castTransposeKernel(const CastTransposeArgs& args)
{
    CastResult result;
    forEachRowGroup(args.part, kGroupRows, [&](const RowRange& group) {
        forEachRowGroup(group, kRowBlock, [&](const RowRange& block) {
            add(result, castKernel<B>(elementsOf(args.x, block), args.scale, args.format, elementsOf(args.q, block)));
            if (args.columnPartials != nullptr)
                biasGradKernel<B>(args.x, block, args.columnPartials);
        });
        transposeKernel<B>(args.q, group, args.qTransposed);
    });
    return result;
}

template <int B>
CastResult actCastTransposeKernel(const Activation& function, const CastTransposeArgs& args)
{
    CastResult result;
    Bf16 values[kCastPiece];
    forEachRowGroup(args.part, kGroupRows, [&](const RowRange& group) {
        const std::span<const Bf16> z = elementsOf(args.x, group);
        const std::span<Fp8> q = elementsOf(args.q, group);
        for (std::size_t i = 0; i < z.size(); i += kCastPiece) {
            const std::size_t n = std::min(kCastPiece, z.size() - i);
            activate<B>(function, z.data() + i, n, values);
            add(result, castKernel<B>({values, n}, args.scale, args.format, q.subspan(i, n)));
        }
        transposeKernel<B>(args.q, group, args.qTransposed);
    });
    return result;
}

}  // namespace fp8scope::kernels
