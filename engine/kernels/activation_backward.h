// SPDX-License-Identifier: Apache-2.0
// Undoing an activation, with what quantizes the result: one read of da and z gives dz or its fp8 tensor and transpose,
// the amax and partial column sums. Also the relu whose sign is kept as one bit an element, as cuBLASLt's epilogue
// does.
#pragma once

#include "engine/kernels/activation.h"
#include "engine/kernels/cast_transpose.h"

#include <algorithm>

namespace fp8scope::kernels {

inline constexpr std::size_t kMaskBits = 32;
static_assert(kCastPiece % kMaskBits == 0, "a piece of a row begins at a whole word of its mask");

/// What relu's backward passes: everything but zeros and negative numbers.
[[nodiscard]] constexpr bool passesRelu(Bf16 z) { return z != 0 && !isNegative(z); }

template <int B>
void reluMaskKernel(std::span<const Bf16> z, std::span<Bf16> a, std::uint32_t* mask)
{
    for (std::size_t i = 0; i < z.size(); i += kMaskBits) {
        const std::size_t n = std::min(kMaskBits, z.size() - i);
        std::uint32_t word = 0;
        for (std::size_t bit = 0; bit < n; ++bit) {
            word |= static_cast<std::uint32_t>(passesRelu(z[i + bit])) << bit;
            a[i + bit] = isNegative(z[i + bit]) ? Bf16{0} : z[i + bit];
        }
        mask[i / kMaskBits] = word;
    }
}

template <int B>
void reluMaskBackward(const Bf16* da, const std::uint32_t* mask, std::size_t n, Bf16* dz)
{
    for (std::size_t i = 0; i < n; i += kMaskBits) {
        const std::uint32_t word = mask[i / kMaskBits];
        const std::size_t bits = std::min(kMaskBits, n - i);
        for (std::size_t bit = 0; bit < bits; ++bit)
            dz[i + bit] = static_cast<Bf16>(da[i + bit] & static_cast<Bf16>(0U - ((word >> bit) & 1U)));
    }
}

/// dz of some elements of one row, from element `first` on.
template <int B>
void backwardPiece(const Activation& function, const ActBackwardArgs& args, std::size_t row, std::size_t first,
                   std::size_t n, Bf16* dz)
{
    const std::size_t at = row * static_cast<std::size_t>(args.part.cols) + first;
    if (args.mask != nullptr)
        reluMaskBackward<B>(args.da + at, args.mask + row * args.maskWords + first / kMaskBits, n, dz);
    else
        actBackwardKernel<B>(function, {args.da + at, n}, {args.z + at, n}, {dz, n});
}

/// The rows of one block, piece by piece.
template <int B>
void backwardBlock(const Activation& function, const ActBackwardArgs& args, const RowRange& rows, CastResult& result)
{
    const auto cols = static_cast<std::size_t>(args.part.cols);
    float* sums = nullptr;
    if (args.columnPartials != nullptr) {
        sums = args.columnPartials + static_cast<std::size_t>(rows.begin / kRowBlock) * cols;
        std::fill(sums, sums + cols, 0.0F);
    }
    Bf16 unkept[kCastPiece];
    for (auto row = static_cast<std::size_t>(rows.begin); row < static_cast<std::size_t>(rows.end); ++row) {
        for (std::size_t first = 0; first < cols; first += kCastPiece) {
            const std::size_t n = std::min(kCastPiece, cols - first), at = row * cols + first;
            Bf16* const dz = args.dz != nullptr ? args.dz + at : unkept;
            backwardPiece<B>(function, args, row, first, n, dz);
            if (args.q != nullptr)
                add(result, castKernel<B>({dz, n}, args.scale, args.format, {args.q + at, n}));
            else
                result.amax = maxAmax(result.amax, amaxKernel<B>({dz, n}));
            if (sums != nullptr)
                addRow<B>(dz, n, sums + first);
        }
    }
}

template <int B>
CastResult actBackwardCastKernel(const Activation& function, const ActBackwardArgs& args)
{
    CastResult result;
    forEachRowGroup(args.part, kGroupRows, [&](const RowRange& group) {
        forEachRowGroup(group, kRowBlock,
                        [&](const RowRange& block) { backwardBlock<B>(function, args, block, result); });
        if (args.q != nullptr)
            transposeKernel<B>(args.q, group, args.qTransposed);
    });
    return result;
}

}  // namespace fp8scope::kernels
