// SPDX-License-Identifier: Apache-2.0
// Emits the unfused kernels that quantize a tensor, as eager torchao launches them: amax, scale arithmetic, cast chain,
// transposes, and the reciprocals that GEMMs want. Internal to engine/plan.
#pragma once

#include "engine/plan/gemm_calls.h"
#include "engine/plan/plan_writer.h"

namespace fp8scope::plan {

/// The three tensors of a linear layer that are quantized; their order is that of StepPlan::quantized.
enum class Operand : std::uint8_t { X, W, Dy };

/// Where in the step a cast happens.
struct CastSite {
    int layer = 0;
    Phase phase = Phase::Forward;
    Operand operand = Operand::X;
};

/// One quantization of a tensor.
struct QuantizedValue {
    TensorId q;
    TensorId scale;
    std::size_t index = 0;  ///< into StepPlan::quantized
    bool first = false;     ///< of this tensor in the step
};

class Quantizer {
public:
    /// Registers x, w and dy of every fp8 layer in StepPlan::quantized, and the delayed recipe's bulk vectors.
    explicit Quantizer(PlanWriter&);

    QuantizedValue quantize(const CastSite&, TensorId source);
    TensorId transpose(const CastSite&, TensorId q);
    /// `tensor` (q or its transpose) as a GEMM operand with its dequantization factor.
    GemmOperand operand(const CastSite&, const QuantizedValue&, TensorId tensor);
    /// The delayed recipe's bulk update, last op of the step.
    void finishStep();

private:
    void addBulkState();
    void findAmax(const CastSite&, TensorId source, TensorId amax);
    TensorId scaleFromAmax(const CastSite&, TensorId amax, DType format);
    TensorId castChain(const CastSite&, TensorId source, TensorId scale, DType format, int statistics);
    TensorId scalar(const CastSite&, std::string_view what, DType type);
    TensorId matrix(const CastSite&, std::string_view what, DType type, TensorClass cls, std::int64_t rows,
                    std::int64_t cols);
    Op& append(OpKind, const CastSite&, std::string_view verb, TensorId input, TensorId output);
    [[nodiscard]] const std::string& layerName(const CastSite& site) const
    {
        return m_plan.layers[static_cast<std::size_t>(site.layer)].name;
    }

    PlanWriter& m_writer;
    StepPlan& m_plan;
    bool m_delayed;
    std::vector<std::size_t> m_firstIndex;  ///< by layer: where its x stands in StepPlan::quantized
    TensorId m_staging, m_history, m_scales, m_scaleInvs;
};

/// "fwd", "dgrad", "wgrad": as in op and tensor names.
[[nodiscard]] std::string_view phaseWord(Phase);

}  // namespace fp8scope::plan
