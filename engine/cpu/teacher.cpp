// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/teacher.h"

#include "engine/cpu/initialization.h"
#include "engine/cpu/parallel_for.h"
#include "engine/cpu/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fp8scope::cpu {

namespace {

constexpr std::int64_t kGrain = 1 << 14;
constexpr float kBiasBound = 0.5F;

std::int64_t widest(const plan::MlpConfig& config)
{
    return *std::max_element(config.widths.begin(), config.widths.end());
}

std::size_t f32Bytes(std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); }

/// Row-major Y[batch, out] = X[batch, in] W[out, in]^T + b, all f32.
plan::GemmCall linear(std::int64_t batch, std::int64_t in, std::int64_t out)
{
    plan::GemmCall call;
    call.transA = true;
    call.a = {DType::F32, in, out, in};
    call.b = {DType::F32, in, batch, in};
    call.d = {DType::F32, out, batch, out};
    call.epilogue = plan::Epilogue::Bias;
    call.biasType = DType::F32;
    return call;
}

/// The tanh form of GELU, as the student's.
float gelu(float z)
{
    const float inner = std::sqrt(2.0F / std::numbers::pi_v<float>) * (z + 0.044715F * z * z * z);
    return 0.5F * z * (1.0F + std::tanh(inner));
}

}  // namespace

Teacher::Teacher(const plan::MlpConfig& config, const kernels::CpuKernels& kernels)
    : m_kernels(&kernels), m_activation(config.activation), m_batch(config.batch),
      m_gemms(kernels, GemmArithmetic::F32), m_from(f32Bytes(config.batch * widest(config))),
      m_to(f32Bytes(config.batch * widest(config)))
{
    const std::size_t layers = config.widths.size() - 1;
    for (std::size_t l = 0; l < layers; ++l) {
        Layer& layer = m_layers.emplace_back();
        layer.in = config.widths[l];
        layer.out = config.widths[l + 1];
        layer.weight = AlignedBytes(f32Bytes(layer.in * layer.out));
        const std::span weight(reinterpret_cast<float*>(layer.weight.data()),
                               static_cast<std::size_t>(layer.in * layer.out));
        fillUniform(weight, weightBound(config, l), RandomStream(config.seed, kTeacherWeightStream + l));
        layer.bias.assign(static_cast<std::size_t>(layer.out), 0);
        if (config.bias)
            fillUniform(layer.bias, kBiasBound, RandomStream(config.seed, kTeacherBiasStream + l));
        layer.gemm = m_gemms.prepare(linear(m_batch, layer.in, layer.out));
    }
}

std::span<const float> Teacher::outputs(std::span<const kernels::Bf16> inputs)
{
    m_kernels->toF32(inputs, {reinterpret_cast<float*>(m_from.data()), inputs.size()});
    for (const Layer& layer : m_layers) {
        m_gemms.run(layer.gemm, {.a = layer.weight.data(),
                                 .b = m_from.data(),
                                 .d = m_to.data(),
                                 .bias = reinterpret_cast<const std::byte*>(layer.bias.data())});
        if (&layer != &m_layers.back())
            activate({reinterpret_cast<float*>(m_to.data()), static_cast<std::size_t>(m_batch * layer.out)});
        std::swap(m_from, m_to);
    }
    return {reinterpret_cast<const float*>(m_from.data()), static_cast<std::size_t>(m_batch * m_layers.back().out)};
}

void Teacher::activate(std::span<float> values) const
{
    parallelFor(static_cast<std::int64_t>(values.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (float& v : values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)))
            v = m_activation == plan::Activation::Gelu   ? gelu(v)
                : m_activation == plan::Activation::Relu ? std::max(v, 0.0F)
                                                         : v;
    });
}

std::size_t Teacher::bytes(const plan::MlpConfig& config)
{
    std::int64_t elements = 2 * config.batch * widest(config);
    for (std::size_t l = 0; l + 1 < config.widths.size(); ++l)
        elements += config.widths[l] * config.widths[l + 1];
    return f32Bytes(elements);
}

}  // namespace fp8scope::cpu
