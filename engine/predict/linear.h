// SPDX-License-Identifier: Apache-2.0
// Would fp8 pay for one linear layer? Its GEMMs in 16 bit and in fp8, and what quantization costs beside them.
#pragma once

#include "engine/predict/device.h"
#include "engine/predict/memory_model.h"

#include <string_view>

namespace fp8scope::predict {

/// y[m, n] = x[m, k] w[n, k]^T.
using LinearShape = GemmShape;

/// How scales are chosen and by which kernels the operands become fp8.
enum class Quantization : std::uint8_t {
    None,     ///< operands are fp8 already: the GEMMs alone
    Static,   ///< scales are known: one cast a tensor
    Dynamic,  ///< the recipe's own kernels, as libraries write them
    Fused,    ///< what finds the amax is part of the kernels before it (torch.compile, activation + cast)
    Eager,    ///< PyTorch ops one by one
};

/// Forward: what a user of a trained model runs; the weight is fp8 already. Training: three GEMMs, and x, w and dy are
/// quantized, with their transposes where the device's fp8 GEMMs need them.
enum class Pass : std::uint8_t { Forward, Training };

enum class Verdict : std::uint8_t { WorthIt, BreakEven, NotWorthIt };

struct LinearCase {
    LinearShape shape;
    GemmKind recipe = GemmKind::Tensorwise;
    Quantization quantization = Quantization::Dynamic;
    Pass pass = Pass::Forward;
    Clock clock = Clock::Burst;
};

struct LinearTime {
    double bf16GemmUs = 0, fp8GemmUs = 0, quantizeUs = 0;
    Bound bf16Bound = Bound::Compute, fp8Bound = Bound::Compute;  ///< of the longest GEMM
    int launches = 0;                                             ///< kernels of the fp8 layer
    [[nodiscard]] double bf16Us() const { return bf16GemmUs; }
    [[nodiscard]] double fp8Us() const { return fp8GemmUs + quantizeUs; }
    [[nodiscard]] double speedup() const { return bf16Us() / fp8Us(); }
    [[nodiscard]] Verdict verdict() const;
};

/// Within this of 1, a speedup is break-even: less than the model knows.
inline constexpr double kBreakEvenMargin = 0.05;

/// Throws Error when the device has no such arithmetic.
[[nodiscard]] LinearTime predictLinear(const DeviceModel&, const LinearCase&);

[[nodiscard]] std::string_view toString(Quantization);
[[nodiscard]] std::string_view toString(Verdict);

}  // namespace fp8scope::predict
