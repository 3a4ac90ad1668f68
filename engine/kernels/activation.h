// SPDX-License-Identifier: Apache-2.0
// Activations on bf16, forward and backward. relu works on the bits; gelu looks its 65,536 values up.
#pragma once

#include "engine/kernels/cast.h"

namespace fp8scope::kernels {

/// -inf to -0: what relu sets to zero. NaN passes.
[[nodiscard]] constexpr bool isNegative(Bf16 bits) { return bits >= 0x8000U && bits <= 0xff80U; }

template <int B>
[[gnu::always_inline]] inline void activate(const Activation& function, const Bf16* z, std::size_t n, Bf16* a)
{
    if (function.kind == ActivationKind::Relu) {
        for (std::size_t i = 0; i < n; ++i)
            a[i] = isNegative(z[i]) ? Bf16{0} : z[i];
    } else {
        const Bf16* table = function.value.data();
        for (std::size_t i = 0; i < n; ++i)
            a[i] = table[z[i]];
    }
}

template <int B>
void actForwardKernel(const Activation& function, std::span<const Bf16> z, std::span<Bf16> a)
{
    activate<B>(function, z.data(), z.size(), a.data());
}

template <int B>
float actAmaxKernel(const Activation& function, std::span<const Bf16> z, std::span<Bf16> a)
{
    constexpr std::size_t kPiece = 1024;  // stays in L1 between the two loops
    float amax = 0;
    for (std::size_t i = 0; i < z.size(); i += kPiece) {
        const std::size_t n = z.size() - i < kPiece ? z.size() - i : kPiece;
        activate<B>(function, z.data() + i, n, a.data() + i);
        amax = maxAmax(amax, amaxKernel<B>(std::span<const Bf16>(a.data() + i, n)));
    }
    return amax;
}

template <int B>
void reluBackward(const Bf16* da, const Bf16* z, std::size_t n, Bf16* dz)
{
    for (std::size_t i = 0; i < n; ++i)
        dz[i] = z[i] == 0 || isNegative(z[i]) ? Bf16{0} : da[i];
}

template <int B>
void actBackwardKernel(const Activation& function, std::span<const Bf16> da, std::span<const Bf16> z,
                       std::span<Bf16> dz)
{
    if (function.kind == ActivationKind::Relu) {
        reluBackward<B>(da.data(), z.data(), z.size(), dz.data());
        return;
    }
    const float* table = function.slope.data();
    forEachVector<B>(z.size(), [=, in = da.data(), at = z.data(), out = dz.data()](std::size_t i, const auto& lanes) {
        float slopes[kLanes] = {};
        for (std::size_t lane = 0; lane < lanes.count(); ++lane)
            slopes[lane] = table[at[i + lane]];
        const F32<B> slope = WholeVector<B>::load(slopes);
        lanes.store(out + i, roundToBf16<B>(widenBf16<B>(lanes.load(in + i)) * slope));
    });
}

}  // namespace fp8scope::kernels
