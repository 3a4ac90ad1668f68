// SPDX-License-Identifier: Apache-2.0
// Bias: added to rows, and its gradient as column sums. Sums are made in the order of rows within a block of kRowBlock
// rows, then in the order of blocks, here and in cast_transpose.h alike.
#pragma once

#include "engine/kernels/cpu_kernels.h"
#include "engine/kernels/elementwise.h"

namespace fp8scope::kernels {

template <int B>
void biasAddKernel(std::span<const Bf16> bias, std::span<Bf16> y)
{
    const std::size_t cols = bias.size();
    for (Bf16* row = y.data(); row != y.data() + y.size(); row += cols)
        forEachVector<B>(cols, [=, b = bias.data()](std::size_t c, const auto& lanes) {
            const F32<B> sum = widenBf16<B>(lanes.load(row + c)) + widenBf16<B>(lanes.load(b + c));
            lanes.store(row + c, roundToBf16<B>(sum));
        });
}

template <int B>
void encodeBf16BiasKernel(std::span<const float> x, std::span<const Bf16> bias, std::span<Bf16> y)
{
    const std::size_t cols = bias.size();
    for (std::size_t row = 0; row < x.size(); row += cols)
        forEachVector<B>(
            cols, [in = x.data() + row, out = y.data() + row, b = bias.data()](std::size_t c, const auto& lanes) {
                lanes.store(out + c, roundToBf16<B>(lanes.load(in + c) + widenBf16<B>(lanes.load(b + c))));
            });
}

/// One row more in the sums of its block.
template <int B>
[[gnu::always_inline]] inline void addRow(const Bf16* row, std::size_t cols, float* sums)
{
    forEachVector<B>(cols, [=](std::size_t c, const auto& lanes) {
        lanes.store(sums + c, lanes.load(sums + c) + widenBf16<B>(lanes.load(row + c)));
    });
}

template <int B>
void biasGradKernel(const Bf16* dy, const RowRange& part, float* columnPartials)
{
    const auto cols = static_cast<std::size_t>(part.cols);
    for (std::int64_t block = part.begin; block < part.end; block += kRowBlock) {
        float* sums = columnPartials + static_cast<std::size_t>(block / kRowBlock) * cols;
        std::memset(sums, 0, cols * sizeof(float));
        const std::int64_t end = part.end - block < kRowBlock ? part.end : block + kRowBlock;
        for (std::int64_t row = block; row < end; ++row)
            addRow<B>(dy + static_cast<std::size_t>(row) * cols, cols, sums);
    }
}

template <int B>
void reduceColumnsKernel(const float* columnPartials, std::int64_t rows, std::int64_t cols, std::int64_t colBegin,
                         std::int64_t colEnd, float* out)
{
    const auto stride = static_cast<std::size_t>(cols);
    const auto blocks = static_cast<std::size_t>(columnSumBlocks(rows));
    const auto first = static_cast<std::size_t>(colBegin);
    forEachVector<B>(static_cast<std::size_t>(colEnd - colBegin), [=](std::size_t c, const auto& lanes) {
        auto sum = Vec<B>::splat(0.0F);
        for (std::size_t block = 0; block < blocks; ++block)
            sum = sum + lanes.load(columnPartials + block * stride + first + c);
        lanes.store(out + first + c, sum);
    });
}

}  // namespace fp8scope::kernels
