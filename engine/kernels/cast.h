// SPDX-License-Identifier: Apache-2.0
// Quantization that keeps the layout: the eager chain, one pass each, and the fused cast; and decoding for GEMM operands.
#pragma once

#include "engine/kernels/cpu_kernels.h"
#include "engine/kernels/elementwise.h"

namespace fp8scope::kernels {

// Plain loops over 16-bit integers where the compiler's own vectors are as good: magnitudes of bf16 order like integers.

template <int B>
void absKernel(std::span<const Bf16> x, std::span<Bf16> y)
{
    const Bf16* in = x.data();
    Bf16* out = y.data();
    for (std::size_t i = 0; i < x.size(); ++i)
        out[i] = in[i] & 0x7fffU;
}

template <int B>
float maxReduceKernel(std::span<const Bf16> x)
{
    const Bf16* in = x.data();
    std::int16_t largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto bits = static_cast<std::int16_t>(in[i]);
        largest = bits > largest ? bits : largest;
    }
    return decodeBf16(static_cast<Bf16>(largest));
}

template <int B>
float amaxKernel(std::span<const Bf16> x)
{
    const Bf16* in = x.data();
    std::int16_t largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto magnitude = static_cast<std::int16_t>(in[i] & 0x7fffU);
        largest = magnitude > largest ? magnitude : largest;
    }
    return decodeBf16(static_cast<Bf16>(largest));
}

template <int B>
void toF32Kernel(std::span<const Bf16> x, std::span<float> y)
{
    forEachVector<B>(x.size(), [in = x.data(), out = y.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, widenBf16<B>(lanes.load(in + i)));
    });
}

template <int B>
void mulScaleKernel(std::span<const float> x, float scale, std::span<float> y)
{
    const auto factor = Vec<B>::splat(scale);
    forEachVector<B>(x.size(), [=, in = x.data(), out = y.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, lanes.load(in + i) * factor);
    });
}

template <int B>
std::uint64_t clampKernel(std::span<const float> x, float limit, std::span<float> y)
{
    const auto upper = Vec<B>::splat(limit);
    const auto lower = Vec<B>::splat(-limit);
    auto saturated = Vec<B>::splat(0U);
    forEachVector<B>(x.size(), [&, in = x.data(), out = y.data()](std::size_t i, const auto& lanes) {
        const F32<B> v = lanes.load(in + i);
        lanes.store(out + i, max(lower, min(upper, v)));  // in this order a NaN stays
        countInto<B>(saturated, lanes.only(absolute<B>(v) > upper));
    });
    return sumLanes<std::uint64_t>(saturated);
}

template <int B, DType Type>
CastCounts toFp8As(std::span<const float> x, std::span<Fp8> q)
{
    CastCounters<B> counters;
    forEachVector<B>(x.size(), [&, in = x.data(), out = q.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, roundToFp8<B, Type>(lanes.load(in + i), counters, lanes));
    });
    CastCounts counts = counters.total();
    counts.saturated = 0;  // the clamp's to count
    return counts;
}
template <int B>
CastCounts toFp8Kernel(std::span<const float> x, DType format, std::span<Fp8> q)
{
    return format == DType::E4m3 ? toFp8As<B, DType::E4m3>(x, q) : toFp8As<B, DType::E5m2>(x, q);
}

/// The amax of what went through it, on bf16 bits in u32 lanes.
template <int B>
struct AmaxTracker {
    U32<B> largest = Vec<B>::splat(0U);

    [[gnu::always_inline]] void see(const U32<B>& bf16Bits) { largest = max(largest, bf16Bits & Vec<B>::splat(0x7fffU)); }
    [[nodiscard]] float amax() const
    {
        std::uint32_t lanes[kLanes];
        WholeVector<B>::store(lanes, largest);
        std::uint32_t result = 0;
        for (const std::uint32_t lane : lanes)
            result = lane > result ? lane : result;
        return decodeBf16(static_cast<Bf16>(result));
    }
};

template <int B, DType Type>
CastResult castAs(std::span<const Bf16> x, float scale, std::span<Fp8> q)
{
    const auto factor = Vec<B>::splat(scale);
    CastCounters<B> counters;
    AmaxTracker<B> tracker;
    forEachVector<B>(x.size(), [&, in = x.data(), out = q.data()](std::size_t i, const auto& lanes) {
        const U32<B> bits = lanes.load(in + i);
        tracker.see(bits);
        lanes.store(out + i, roundToFp8<B, Type>(widenBf16<B>(bits) * factor, counters, lanes));
    });
    return {.amax = tracker.amax(), .counts = counters.total()};
}
template <int B>
CastResult castKernel(std::span<const Bf16> x, float scale, DType format, std::span<Fp8> q)
{
    return format == DType::E4m3 ? castAs<B, DType::E4m3>(x, scale, q) : castAs<B, DType::E5m2>(x, scale, q);
}

template <int B, DType Type>
void decodeFp8As(std::span<const Fp8> q, float scale, std::span<float> y)
{
    const auto factor = Vec<B>::splat(scale);
    forEachVector<B>(q.size(), [=, in = q.data(), out = y.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, widenFp8<B, Type>(lanes.load(in + i)) * factor);
    });
}
template <int B>
void decodeFp8Kernel(std::span<const Fp8> q, DType format, float scale, std::span<float> y)
{
    if (format == DType::E4m3)
        decodeFp8As<B, DType::E4m3>(q, scale, y);
    else
        decodeFp8As<B, DType::E5m2>(q, scale, y);
}

template <int B>
void encodeBf16Kernel(std::span<const float> x, std::span<Bf16> y)
{
    forEachVector<B>(x.size(), [in = x.data(), out = y.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, roundToBf16<B>(lanes.load(in + i)));
    });
}

}  // namespace fp8scope::kernels
