// SPDX-License-Identifier: Apache-2.0
// The network whose outputs the student learns: same widths and activation, own weights and biases, computed in fp32.
#pragma once

#include "engine/cpu/aligned_bytes.h"
#include "engine/cpu/gemm.h"
#include "engine/plan/config.h"

#include <span>
#include <vector>

namespace fp8scope::cpu {

class Teacher {
public:
    /// Weights: as the student's (initialization.h), from streams of their own. Biases: uniform in +-0.5.
    Teacher(const plan::MlpConfig&, const kernels::CpuKernels&);

    /// Outputs [batch, last width] for bf16 inputs [batch, first width]; valid until the next call.
    [[nodiscard]] std::span<const float> outputs(std::span<const kernels::Bf16> inputs);

    [[nodiscard]] static std::size_t bytes(const plan::MlpConfig&);

private:
    struct Layer {
        std::int64_t in = 0, out = 0;
        AlignedBytes weight;  // f32 [out, in]
        std::vector<float> bias;
        GemmHandle gemm;
    };

    void activate(std::span<float> values) const;

    const kernels::CpuKernels* m_kernels;
    plan::Activation m_activation;
    std::int64_t m_batch;
    GemmRunner m_gemms;
    std::vector<Layer> m_layers;
    AlignedBytes m_from, m_to;  // f32 activations, in turn
};

}  // namespace fp8scope::cpu
