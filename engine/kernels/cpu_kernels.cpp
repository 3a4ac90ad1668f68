// SPDX-License-Identifier: Apache-2.0
// Chooses the vector level, and prepares what kernels are given: activation tables and optimizer settings.
#include "engine/kernels/cpu_kernels.h"

#include "collector/trace/error.h"
#include "engine/kernels/levels.h"

#include <cmath>
#include <numbers>
#include <string>

namespace fp8scope::kernels {

namespace {

constexpr VectorLevel kLevels[] = {VectorLevel::Portable, VectorLevel::Avx2, VectorLevel::Avx512};

VectorLevel bestLevel()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        return VectorLevel::Avx512;
    if (__builtin_cpu_supports("avx2"))
        return VectorLevel::Avx2;
#endif
    return VectorLevel::Portable;
}

/// sqrt(2/pi) and the cubic term of the tanh form.
constexpr double kGeluScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kGeluCubic = 0.044715;

double gelu(double z) { return 0.5 * z * (1 + std::tanh(kGeluScale * (z + kGeluCubic * z * z * z))); }

double geluSlope(double z)
{
    const double t = std::tanh(kGeluScale * (z + kGeluCubic * z * z * z));
    return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * kGeluScale * (1 + 3 * kGeluCubic * z * z);
}

}  // namespace

std::string_view toString(VectorLevel level)
{
    switch (level) {
    case VectorLevel::Portable: return "portable";
    case VectorLevel::Avx2: return "avx2";
    case VectorLevel::Avx512: return "avx512";
    }
    return "?";
}

VectorLevel vectorLevelFor(std::string_view limit)
{
    const VectorLevel best = bestLevel();
    if (limit.empty())
        return best;
    for (const VectorLevel level : kLevels)
        if (toString(level) == limit)
            return level < best ? level : best;
    throw Error("\"" + std::string(limit) + "\" is not a vector level", "FP8SCOPE_SIMD",
                "use portable, avx2 or avx512, or unset it");
}

const CpuKernels& cpuKernels(VectorLevel level)
{
#if defined(__x86_64__)
    if (level == VectorLevel::Avx512)
        return avx512Kernels();
    if (level == VectorLevel::Avx2)
        return avx2Kernels();
#endif
    return portableKernels();
}

Activation makeActivation(ActivationKind kind)
{
    Activation activation{.kind = kind, .value = {}, .slope = {}};
    if (kind == ActivationKind::Relu)
        return activation;
    activation.value.resize(65536);
    activation.slope.resize(65536);
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const double z = static_cast<double>(decodeBf16(static_cast<Bf16>(bits)));
        // Far out the products overflow to 0 * inf; there gelu is z or 0.
        const bool far = std::abs(z) > 30;
        activation.value[bits] = encodeBf16(static_cast<float>(far ? (z > 0 ? z : -0.0) : gelu(z)));
        activation.slope[bits] = static_cast<float>(far ? (z > 0 ? 1.0 : 0.0) : geluSlope(z));
    }
    return activation;
}

AdamSettings adamSettings(double learningRate, double beta1, double beta2, double epsilon, std::int64_t step)
{
    const auto t = static_cast<double>(step);
    return {.beta1 = static_cast<float>(beta1),
            .oneMinusBeta1 = static_cast<float>(1 - beta1),
            .beta2 = static_cast<float>(beta2),
            .oneMinusBeta2 = static_cast<float>(1 - beta2),
            .epsilon = static_cast<float>(epsilon),
            .stepSize = static_cast<float>(learningRate / (1 - std::pow(beta1, t))),
            .invSqrtCorrection2 = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, t)))};
}

}  // namespace fp8scope::kernels
