// SPDX-License-Identifier: Apache-2.0
// What quantization does to the values themselves: signal to noise, and how the magnitudes are spread. From a sample of
// each tensor in some steps, so that it may be left on.
#pragma once

#include "engine/cpu/cpu_executor.h"
#include "engine/cpu/op_context.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fp8scope::cpu {

/// Watches the casts of a step. Call afterOp after every op; an op without a cast costs a comparison.
class QualityProbe {
public:
    explicit QualityProbe(const plan::StepPlan&);

    void afterOp(OpContext&, const plan::Op&);
    /// One per StepPlan::quantized; those of tensors that were not cast are as they were in the step before.
    [[nodiscard]] std::span<const QuantizationQuality> results() const { return m_results; }

    /// Elements that are looked at: pieces spread evenly over the tensor, so that rows and columns are all represented.
    /// The noise power of 16,384 elements is known to 1%, the SQNR to 0.05 dB.
    static constexpr std::int64_t kSample = 16384, kPiece = 256;

private:
    void loadSource(OpContext&, const plan::Op&, std::int64_t begin, std::int64_t end);

    std::vector<QuantizationQuality> m_results;
    std::vector<std::vector<float>> m_scaled;  ///< of the eager chain: the sample before it was clamped
    std::vector<float> m_source;               ///< of the piece at hand, in the units of the cast's product
    std::vector<kernels::Bf16> m_activated;
};

}  // namespace fp8scope::cpu
