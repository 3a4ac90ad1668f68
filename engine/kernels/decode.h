// SPDX-License-Identifier: Apache-2.0
// fp8 GEMM operands as numbers, each multiplied with the factor of its block.
#pragma once

#include "engine/kernels/cast.h"

#include <algorithm>
#include <cstring>

namespace fp8scope::kernels {

[[nodiscard]] inline float factorAt(const ScaledOperand& operand, std::int64_t outerBlock, std::int64_t innerBlock)
{
    const std::int64_t position = operand.layout.index(outerBlock, innerBlock);
    if (operand.layout.mode == ScaleMode::Vec32Ue8m0)
        return decodeE8m0(operand.scales[position]);
    float factor = 1;
    std::memcpy(&factor, operand.scales + position * 4, sizeof factor);
    return factor;
}

template <int B, DType Type, class T>
void decodeSegment(const Fp8* q, std::size_t n, float scale, T* y)
{
    const auto factor = Vec<B>::splat(scale);
    forEachVector<B>(n, [=](std::size_t i, const auto& lanes) {
        const F32<B> value = widenFp8<B, Type>(lanes.load(q + i)) * factor;
        if constexpr (sizeof(T) == sizeof(float))
            lanes.store(y + i, value);
        else
            lanes.store(y + i, shiftRight<16, B>(asBits<B>(value)));
    });
}

template <int B, class T>
void decodeScaledKernel(const ScaledOperand& operand, std::int64_t begin, std::int64_t end, T* y)
{
    const std::int64_t block = operand.layout.innerBlock(), inner = operand.layout.inner;
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t i = 0; i < inner; i += block) {
            const float factor = factorAt(operand, row / operand.layout.outerBlock(), i / block);
            const auto n = static_cast<std::size_t>(std::min(block, inner - i));
            const std::int64_t first = row * inner + i;
            if (operand.format == DType::E4m3)
                decodeSegment<B, DType::E4m3>(operand.q + first, n, factor, y + first);
            else
                decodeSegment<B, DType::E5m2>(operand.q + first, n, factor, y + first);
        }
}

}  // namespace fp8scope::kernels
