// SPDX-License-Identifier: Apache-2.0
// Quantization with a scale for each column: what the transposed operand of a gradient's GEMM needs, whose rows are the
// columns here.
#pragma once

#include "engine/kernels/cast.h"
#include "engine/kernels/transpose.h"

#include <algorithm>

namespace fp8scope::kernels {

template <int B>
void columnAmaxKernel(const Bf16* x, const RowRange& part, std::span<Bf16> magnitudes)
{
    const auto cols = static_cast<std::size_t>(part.cols);
    Bf16* most = magnitudes.data();
    for (std::int64_t row = part.begin; row < part.end; ++row) {
        const Bf16* in = x + static_cast<std::size_t>(row) * cols;
        for (std::size_t c = 0; c < cols; ++c) {  // magnitudes order like integers, NaN above all
            const auto magnitude = static_cast<Bf16>(in[c] & 0x7fffU);
            most[c] = magnitude > most[c] ? magnitude : most[c];
        }
    }
}

template <int B>
void mulScalesKernel(std::span<const float> x, std::span<const float> scales, std::span<float> y)
{
    forEachVector<B>(x.size(), [in = x.data(), s = scales.data(), out = y.data()](std::size_t i, const auto& lanes) {
        lanes.store(out + i, lanes.load(in + i) * lanes.load(s + i));
    });
}

template <int B, DType Type>
CastCounts castColumnsCarefully(const Bf16* x, std::size_t n, const float* scales, Fp8* q)
{
    CastCounters<B> counters;
    forEachVector<B>(n, [&](std::size_t i, const auto& lanes) {
        const F32<B> scaled = widenBf16<B>(lanes.load(x + i)) * lanes.load(scales + i);
        lanes.store(q + i, roundToFp8<B, Type>(scaled, counters, lanes));
    });
    return counters.total();
}

/// For products that are all ordinary (cast.h), and where nobody counts.
template <int B, DType Type>
void castColumnsOrdinary(const Bf16* x, std::size_t n, const float* scales, Fp8* q)
{
    using V = Vec<B>;
    forEachVector<B>(n, [=](std::size_t i, const auto& lanes) {
        const U32<B> bits = lanes.load(x + i);
        const F32<B> scaled = widenBf16<B>(bits & V::splat(0x7fffU)) * lanes.load(scales + i);
        const U32<B> sign = shiftRight<8, B>(bits) & V::splat(0x80U);
        lanes.store(q + i, (ordinaryCode<B, Type>(scaled) & V::splat(0x7fU)) | sign);
    });
}

template <int B>
CastCounts castColumnsKernel(std::span<const Bf16> x, std::span<const float> scales, DType format, std::span<Fp8> q)
{
    return format == DType::E4m3 ? castColumnsCarefully<B, DType::E4m3>(x.data(), x.size(), scales.data(), q.data())
                                 : castColumnsCarefully<B, DType::E5m2>(x.data(), x.size(), scales.data(), q.data());
}

template <int B>
void castColumnsTransposedKernel(const Bf16* x, const RowRange& part, const float* scales, DType format,
                                 Fp8* qTransposed)
{
    const auto cols = static_cast<std::size_t>(part.cols);
    const auto rows = static_cast<std::size_t>(part.rows);
    alignas(64) Fp8 strip[kTile * kStripColumns];
    forEachStrip(part, [&](std::size_t row, std::size_t stripRows, std::size_t column, std::size_t stripCols) {
        for (std::size_t r = 0; r < stripRows; ++r)
            castColumnsKernel<B>({x + (row + r) * cols + column, stripCols}, {scales + column, stripCols}, format,
                                 {strip + r * kStripColumns, stripCols});
        transposeStrip<B>(strip, kStripColumns, stripRows, stripCols, qTransposed + column * rows + row, rows);
    });
}

template <int B>
void rescaleKernel(std::span<const Bf16> x, std::span<const float> columnFactors, const Rescaling& how,
                   std::span<Bf16> y)
{
    const auto row = Vec<B>::splat(how.rowFactor);
    forEachVector<B>(y.size(),
                     [=, in = x.data(), out = y.data(), c = columnFactors.data()](std::size_t i, const auto& lanes) {
                         F32<B> value = widenBf16<B>(lanes.load(in + i)) * (row * lanes.load(c + i));
                         if (how.add)
                             value = value + widenBf16<B>(lanes.load(out + i));
                         lanes.store(out + i, roundToBf16<B>(value));
                     });
}

}  // namespace fp8scope::kernels
