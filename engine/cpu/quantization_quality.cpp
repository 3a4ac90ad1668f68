// SPDX-License-Identifier: Apache-2.0
// SQNR = 10 log10(sum x^2 / sum (x - dequantized)^2). With one scale a tensor it is the same before and after dividing
// by the scale, so it is taken of the scaled values, which need no division.
#include "engine/cpu/quantization_quality.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace fp8scope::cpu {

using plan::Op;
using plan::OpKind;

namespace {

/// Calls body(begin, end) for the pieces of a tensor's sample; all of it where it is small.
template <typename Body>
void forPieces(std::int64_t elements, const Body& body)
{
    const std::int64_t pieces = QualityProbe::kSample / QualityProbe::kPiece;
    if (elements <= QualityProbe::kSample) {
        for (std::int64_t i = 0; i < elements; i += QualityProbe::kPiece)
            body(i, std::min(i + QualityProbe::kPiece, elements));
        return;
    }
    for (std::int64_t p = 0; p < pieces; ++p) {
        // An odd offset: pieces at equal distances would all look at the same columns of a matrix of 2^n columns.
        const std::int64_t begin = std::min(elements / pieces * p + p * 37 % 193, elements - QualityProbe::kPiece);
        body(begin, begin + QualityProbe::kPiece);
    }
}

struct Powers {
    double signal = 0, noise = 0;
};

void addPiece(std::span<const float> scaled, std::span<const kernels::Fp8> q, DType format, Powers& powers)
{
    const std::array<float, 256>& values = fp8Values(format);
    double signal = 0, noise = 0;
    for (std::size_t i = 0; i < scaled.size(); ++i) {
        const double x = scaled[i], error = x - static_cast<double>(values[q[i]]);
        signal += x * x;
        noise += error * error;
    }
    powers.signal += signal;
    powers.noise += noise;
}

double decibels(const Powers& powers)
{
    if (!(powers.signal > 0) || !std::isfinite(powers.noise))
        return std::numeric_limits<double>::quiet_NaN();
    constexpr double kLeastNoise = 1e-30;  // relative: exact casts (all values are codes) give 300 dB, not infinity
    return 10 * std::log10(powers.signal / std::max(powers.noise, kLeastNoise * powers.signal));
}

/// Adds the piece to the histogram of exponents before scaling: x = scaled / scale.
void countExponents(std::span<const float> scaled, float scale, QuantizationQuality& quality)
{
    const float unscale = 1 / scale;
    for (const float v : scaled) {
        const auto bits = std::bit_cast<std::uint32_t>(v * unscale);
        ++quality.exponents[(bits >> 23) & 0xffU];
    }
}

/// Casts whose first output is the fp8 tensor and whose input tells the values; others (in the optimizer, in blocks)
/// are not looked at.
bool isCast(const Op& op)
{
    switch (op.kind) {
    case OpKind::ToFp8:
    case OpKind::Cast:
    case OpKind::CastTranspose:
    case OpKind::CastTransposeDbias:
    case OpKind::ActCastTranspose: return op.quantized >= 0;
    default: return false;
    }
}

}  // namespace

QualityProbe::QualityProbe(const plan::StepPlan& plan)
    : m_results(plan.quantized.size()), m_scaled(plan.quantized.size())
{}

void QualityProbe::afterOp(OpContext& ctx, const Op& op)
{
    if (op.quantized < 0)
        return;
    const auto index = static_cast<std::size_t>(op.quantized);
    if (op.kind == OpKind::Clamp) {
        m_scaled[index].clear();
        const std::span<const float> scaled = ctx.arena->f32(op.inputs[0]);
        forPieces(static_cast<std::int64_t>(scaled.size()), [&](std::int64_t begin, std::int64_t end) {
            m_scaled[index].insert(m_scaled[index].end(), scaled.begin() + begin, scaled.begin() + end);
        });
        return;
    }
    const plan::QuantizedTensor& tensor = ctx.plan->quantized[index];
    const bool oneScale = tensor.scale.valid() && ctx.tensor(tensor.scale).elements() == 1;
    if (!isCast(op) || !oneScale)
        return;  // not known for scales of rows and blocks
    const float scale = ctx.quantized[index].scale;
    const std::span<const kernels::Fp8> q = ctx.arena->fp8(op.outputs[0]);
    QuantizationQuality& quality = m_results[index];
    quality.exponents.fill(0);
    Powers powers;
    std::size_t taken = 0;
    forPieces(static_cast<std::int64_t>(q.size()), [&](std::int64_t begin, std::int64_t end) {
        const auto first = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
        std::span<const float> scaled;
        if (op.kind == OpKind::ToFp8) {
            scaled = std::span(m_scaled[index]).subspan(taken, n);
        } else {
            loadSource(ctx, op, begin, end);
            for (float& v : m_source)
                v *= scale;
            scaled = m_source;
        }
        addPiece(scaled, q.subspan(first, n), tensor.format, powers);
        countExponents(scaled, scale, quality);
        taken += n;
    });
    quality.exponents[0] = 0;  // zeros, and what is as good as zero
    quality.sqnrDb = decibels(powers);
}

/// The values that the op casts, as f32: its input, or its input's activation.
void QualityProbe::loadSource(OpContext& ctx, const Op& op, std::int64_t begin, std::int64_t end)
{
    const auto first = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
    std::span<const kernels::Bf16> values = ctx.arena->bf16(op.inputs[0]).subspan(first, n);
    if (op.kind == OpKind::ActCastTranspose) {
        m_activated.resize(n);
        ctx.kernels->actForward(ctx.activation, values, m_activated);
        values = m_activated;
    }
    m_source.resize(n);
    ctx.kernels->toF32(values, m_source);
}

}  // namespace fp8scope::cpu
