// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gradient_norm.h"

#include "engine/cpu/parallel_for.h"

#include <array>
#include <cmath>
#include <numeric>

namespace fp8scope::cpu {

using plan::Op;
using plan::TensorId;

namespace {

constexpr std::int64_t kChunk = 4096;

float asFloat(float value) { return value; }
float asFloat(kernels::Bf16 value) { return decodeBf16(value); }

template <typename T>
double squaresOfChunk(std::span<const T> values)
{
    constexpr std::size_t kLanes = 16;  // independent sums, so that the compiler may use vectors
    std::array<float, kLanes> sums{};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const float v = asFloat(values[i + lane]);
            sums[lane] += v * v;
        }
    }
    for (; i < values.size(); ++i)
        sums[0] += asFloat(values[i]) * asFloat(values[i]);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <typename T>
double squares(std::span<const T> values)
{
    const auto n = static_cast<std::int64_t>(values.size());
    std::vector<double> chunks(static_cast<std::size_t>((n + kChunk - 1) / kChunk));
    parallelFor(n, kChunk, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; begin += kChunk) {
            const auto size = static_cast<std::size_t>(std::min(kChunk, end - begin));
            chunks[static_cast<std::size_t>(begin / kChunk)] =
                squaresOfChunk(values.subspan(static_cast<std::size_t>(begin), size));
        }
    });
    return std::accumulate(chunks.begin(), chunks.end(), 0.0);
}

double squaresOf(OpContext& ctx, TensorId gradient)
{
    if (ctx.tensor(gradient).type == DType::Bf16)
        return squares(std::span<const kernels::Bf16>(ctx.arena->bf16(gradient)));
    return squares(std::span<const float>(ctx.arena->f32(gradient)));
}

bool isGradient(const OpContext& ctx, TensorId id)
{
    return id.valid() && ctx.tensor(id).cls == plan::TensorClass::Gradient;
}

}  // namespace

double squaredGradients(OpContext& ctx, const Op& optimizerOp)
{
    double sum = 0;
    for (const TensorId input : optimizerOp.inputs)
        sum += isGradient(ctx, input) ? squaresOf(ctx, input) : 0;
    return sum;
}

TensorId notFiniteGradient(OpContext& ctx, const Op& optimizerOp)
{
    for (const TensorId input : optimizerOp.inputs) {
        if (isGradient(ctx, input) && !std::isfinite(squaresOf(ctx, input)))
            return input;
    }
    return TensorId::none();
}

}  // namespace fp8scope::cpu
