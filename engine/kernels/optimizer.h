// SPDX-License-Identifier: Apache-2.0
// Optimizer updates on fp32 master weights; the bf16 weight is the rounded master.
#pragma once

#include "engine/kernels/cpu_kernels.h"
#include "engine/kernels/elementwise.h"

namespace fp8scope::kernels {

/// update(i, lanes, gradient) gives what is subtracted from the master.
template <int B, class Update>
[[gnu::always_inline]] inline void stepParameters(const ParameterSlice& p, const Update& update)
{
    const auto subtract = [&p](std::size_t i, const auto& lanes, const F32<B>& change) {
        const F32<B> master = lanes.load(p.master + i) - change;
        lanes.store(p.master + i, master);
        lanes.store(p.weight + i, roundToBf16<B>(master));
    };
    if (p.gradBf16 != nullptr)
        forEachVector<B>(p.n, [&](std::size_t i, const auto& lanes) {
            subtract(i, lanes, update(i, lanes, widenBf16<B>(lanes.load(p.gradBf16 + i))));
        });
    else
        forEachVector<B>(p.n, [&](std::size_t i, const auto& lanes) {
            subtract(i, lanes, update(i, lanes, lanes.load(p.gradF32 + i)));
        });
}

template <int B>
void sgdKernel(const ParameterSlice& p, const SgdSettings& settings)
{
    using V = Vec<B>;
    stepParameters<B>(p, [&](std::size_t i, const auto& lanes, const F32<B>& gradient) {
        const F32<B> buffer = lanes.load(p.momentum + i) * V::splat(settings.momentum) + gradient;
        lanes.store(p.momentum + i, buffer);
        return buffer * V::splat(settings.learningRate);
    });
}

template <int B>
void adamKernel(const ParameterSlice& p, const AdamSettings& s)
{
    using V = Vec<B>;
    stepParameters<B>(p, [&](std::size_t i, const auto& lanes, const F32<B>& gradient) {
        const F32<B> mean = lanes.load(p.momentum + i) * V::splat(s.beta1) + gradient * V::splat(s.oneMinusBeta1);
        const F32<B> variance =
            lanes.load(p.variance + i) * V::splat(s.beta2) + gradient * V::splat(s.oneMinusBeta2) * gradient;
        lanes.store(p.momentum + i, mean);
        lanes.store(p.variance + i, variance);
        const F32<B> denominator = squareRoot(variance) * V::splat(s.invSqrtCorrection2) + V::splat(s.epsilon);
        return mean * V::splat(s.stepSize) / denominator;
    });
}

}  // namespace fp8scope::kernels
