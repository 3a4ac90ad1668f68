// SPDX-License-Identifier: Apache-2.0
// Quantization that keeps the layout: the eager chain, one pass each, and the fused cast; and decoding for GEMM
// operands.
#pragma once

#include "engine/kernels/cpu_kernels.h"
#include "engine/kernels/elementwise.h"

namespace fp8scope::kernels {

// Plain loops over 16-bit integers where the compiler's own vectors are as good: magnitudes of bf16 order like
// integers.

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

template <int B, DType Type>
CastCounts castCarefully(const Bf16* x, std::size_t n, float scale, Fp8* q)
{
    const auto factor = Vec<B>::splat(scale);
    CastCounters<B> counters;
    forEachVector<B>(n, [&](std::size_t i, const auto& lanes) {
        lanes.store(q + i, roundToFp8<B, Type>(widenBf16<B>(lanes.load(x + i)) * factor, counters, lanes));
    });
    return counters.total();
}

/// For pieces in which nothing saturates, nothing is NaN and only zeros give a zero product: half the steps.
template <int B, DType Type>
CastCounts castOrdinary(const Bf16* x, std::size_t n, float scale, Fp8* q)
{
    using Whole = WholeVector<B>;
    const auto factor = Vec<B>::splat(scale);
    const std::size_t paired = n / (2 * kLanes) * (2 * kLanes);
    for (std::size_t i = 0; i < paired; i += 2 * kLanes)
        Whole::storePairs(q + i, ordinaryCodesOfPairs<B, Type>(Whole::loadPairs(x + i), factor));
    const std::size_t zeroCodes = countZeros<B>(q, paired);
    const std::size_t zeros = zeroCodes == 0 ? 0 : countZeros<B>(x, paired);
    CastCounts counts{.saturated = 0, .underflowed = zeroCodes - zeros, .zeros = zeros};
    if (paired < n)
        counts += castCarefully<B, Type>(x + paired, n - paired, scale, q + paired);
    return counts;
}

/// Casts up to kCastPiece elements, which stay in L1 between the pass that finds their amax and the one that casts
/// them.
inline constexpr std::size_t kCastPiece = 1024;

/// The smallest bf16 is 2^-133: from this scale on only zeros give a zero product.
inline constexpr float kLeastOrdinaryScale = 0x1p-16F;

/// Casts elements whose amax is known.
template <int B, DType Type>
CastCounts castBelow(float amax, const Bf16* x, std::size_t n, float scale, Fp8* q)
{
    const bool ordinary = scale >= kLeastOrdinaryScale && amax * scale <= fp8Max(Type);
    return ordinary ? castOrdinary<B, Type>(x, n, scale, q) : castCarefully<B, Type>(x, n, scale, q);
}

template <int B, DType Type>
CastResult castPiece(const Bf16* x, std::size_t n, float scale, Fp8* q)
{
    const float amax = amaxKernel<B>(std::span<const Bf16>(x, n));
    return {.amax = amax, .counts = castBelow<B, Type>(amax, x, n, scale, q)};
}

inline void add(CastResult& whole, const CastResult& part)
{
    whole.amax = maxAmax(whole.amax, part.amax);
    whole.counts += part.counts;
}

template <int B, DType Type>
CastResult castAs(std::span<const Bf16> x, float scale, std::span<Fp8> q)
{
    CastResult whole;
    for (std::size_t i = 0; i < x.size(); i += kCastPiece) {
        const std::size_t n = x.size() - i < kCastPiece ? x.size() - i : kCastPiece;
        add(whole, castPiece<B, Type>(x.data() + i, n, scale, q.data() + i));
    }
    return whole;
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

template <int B, DType Type>
void decodeFp8ToBf16As(std::span<const Fp8> q, std::span<Bf16> y)
{
    forEachVector<B>(q.size(), [in = q.data(), out = y.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, shiftRight<16, B>(asBits<B>(widenFp8<B, Type>(lanes.load(in + i)))));
    });
}
template <int B>
void decodeFp8ToBf16Kernel(std::span<const Fp8> q, DType format, std::span<Bf16> y)
{
    if (format == DType::E4m3)
        decodeFp8ToBf16As<B, DType::E4m3>(q, y);
    else
        decodeFp8ToBf16As<B, DType::E5m2>(q, y);
}

template <int B>
void encodeBf16Kernel(std::span<const float> x, std::span<Bf16> y)
{
    forEachVector<B>(x.size(), [in = x.data(), out = y.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, roundToBf16<B>(lanes.load(in + i)));
    });
}

}  // namespace fp8scope::kernels
