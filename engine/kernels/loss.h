// SPDX-License-Identifier: Apache-2.0
// Losses with their gradients. A row's loss is summed in sixteen f32 lanes, which are added in f64 in their order.
#pragma once

#include "engine/kernels/cpu_kernels.h"
#include "engine/kernels/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fp8scope::kernels {

template <int B>
[[gnu::always_inline]] inline F32<B> asValues(const F32<B>& v)
{
    return v;
}
template <int B>
[[gnu::always_inline]] inline F32<B> asValues(const U32<B>& bf16Bits)
{
    return widenBf16<B>(bf16Bits);
}

template <int B, class Target>
void squaredErrorKernel(std::span<const Bf16> y, std::span<const Target> target, std::int64_t cols, float gradScale,
                        std::span<Bf16> dy, std::span<double> rowLoss)
{
    const auto width = static_cast<std::size_t>(cols);
    const auto factor = Vec<B>::splat(gradScale);
    for (std::size_t row = 0; row < rowLoss.size(); ++row) {
        const std::size_t first = row * width;
        auto sum = Vec<B>::splat(0.0F);
        forEachVector<B>(width, [&, at = y.data() + first, wanted = target.data() + first,
                                 out = dy.data() + first](std::size_t c, const auto& lanes) {
            const F32<B> error = widenBf16<B>(lanes.load(at + c)) - asValues<B>(lanes.load(wanted + c));
            sum = sum + error * error;
            lanes.store(out + c, roundToBf16<B>(error * factor));
        });
        rowLoss[row] = sumLanes<double>(sum);
    }
}

/// e^x for x <= 0, below 2^-126 as 0: x = n ln 2 + r, e^r by its series to r^7 (error below 1e-7 relative). NaN stays.
template <int B>
[[gnu::always_inline]] inline F32<B> expOfNegative(const F32<B>& x)
{
    using V = Vec<B>;
    constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
    const F32<B> shifted = x * V::splat(1.44269504F) + V::splat(kRound);
    const F32<B> n = shifted - V::splat(kRound);
    const F32<B> r = (x - n * V::splat(0.693359375F)) - n * V::splat(-2.12194440e-4F);
    F32<B> series = V::splat(1.0F / 5040);
    for (const float coefficient : {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F})
        series = series * r + V::splat(coefficient);
    const F32<B> power = asFloat<B>(shiftLeft<23, B>(asBits<B>(shifted) + V::splat(127U)));
    return select(V::splat(-87.0F) > x, V::splat(0.0F), series * power);
}

/// v in the lanes that are used, `other` in those that are not.
template <int B, class Lanes>
[[gnu::always_inline]] inline F32<B> onlyUsed(const Lanes& lanes, const F32<B>& v, float other)
{
    return select(lanes.only(Vec<B>::firstLanes(kLanes)), v, Vec<B>::splat(other));
}

template <int B>
struct Softmax {
    const Bf16* logits;
    std::size_t width;
    float largest;
    double sum;

    Softmax(const Bf16* row, std::size_t cols)
        : logits(row), width(cols), largest(largestLogit()), sum(sumOfExponentials())
    {}

    [[nodiscard]] float largestLogit() const
    {
        constexpr float kLowest = -std::numeric_limits<float>::infinity();
        auto most = Vec<B>::splat(kLowest);
        forEachVector<B>(width, [&](std::size_t c, const auto& lanes) {
            most = max(most, onlyUsed<B>(lanes, widenBf16<B>(lanes.load(logits + c)), kLowest));
        });
        float values[kLanes];
        WholeVector<B>::store(values, most);
        return *std::max_element(values, values + kLanes);
    }
    [[nodiscard]] double sumOfExponentials() const
    {
        auto sums = Vec<B>::splat(0.0F);
        forEachVector<B>(width, [&](std::size_t c, const auto& lanes) {
            sums = sums + onlyUsed<B>(lanes, exponential(lanes, c), 0);
        });
        return sumLanes<double>(sums);
    }
    template <class Lanes>
    [[gnu::always_inline]] F32<B> exponential(const Lanes& lanes, std::size_t c) const
    {
        return expOfNegative<B>(widenBf16<B>(lanes.load(logits + c)) - Vec<B>::splat(largest));
    }
};

template <int B>
void softmaxCrossEntropyKernel(std::span<const Bf16> y, std::span<const std::int32_t> labels, std::int64_t cols,
                               float gradScale, std::span<Bf16> dy, std::span<double> rowLoss)
{
    const auto width = static_cast<std::size_t>(cols);
    for (std::size_t row = 0; row < rowLoss.size(); ++row) {
        const Softmax<B> softmax(y.data() + row * width, width);
        const auto label = static_cast<std::size_t>(labels[row]);
        const float labelLogit = decodeBf16(softmax.logits[label]);
        rowLoss[row] = std::log(softmax.sum) + static_cast<double>(softmax.largest) - static_cast<double>(labelLogit);

        Bf16* out = dy.data() + row * width;
        const auto normalizer = Vec<B>::splat(static_cast<float>(1.0 / softmax.sum));
        const auto factor = Vec<B>::splat(gradScale);
        forEachVector<B>(width, [&](std::size_t c, const auto& lanes) {
            lanes.store(out + c, roundToBf16<B>(softmax.exponential(lanes, c) * normalizer * factor));
        });
        float atLabel[kLanes] = {};
        WholeVector<B>::store(atLabel, expOfNegative<B>(Vec<B>::splat(labelLogit - softmax.largest)) * normalizer);
        out[label] = encodeBf16((atLabel[0] - 1.0F) * gradScale);
    }
}

}  // namespace fp8scope::kernels
