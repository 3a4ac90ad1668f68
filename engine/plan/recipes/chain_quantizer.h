// SPDX-License-Identifier: Apache-2.0
// Emits the unfused kernels that quantize a tensor with one scale, or one for each row or column, as eager torchao
// launches them: amax, scale arithmetic, cast chain, transposes, and the reciprocals that GEMMs want. Internal to
// engine/plan.
#pragma once

#include "engine/plan/recipes/recipe_quantizer.h"

namespace fp8scope::plan {

/// Recipes tensorwise, delayed, rowwise and rowwise_with_gw_hp.
class ChainQuantizer : public RecipeQuantizer {
public:
    explicit ChainQuantizer(PlanWriter&);

    void emitGemm(const LinearGemm&) override;
    /// The delayed recipe's bulk update, last op of the step.
    void finishStep() override;

private:
    /// What shares a scale, in the tensor as it is in bf16.
    enum class Granularity : std::uint8_t { Tensor, Row, Column };

    /// One quantization of a tensor.
    struct Quantized {
        TensorId q;
        TensorId scale;
        bool first = false;  ///< of this tensor in the step
    };

    [[nodiscard]] Granularity granularityOf(const CastSite&) const;
    void addBulkState();
    Quantized quantize(const CastSite&, TensorId source);
    TensorId transposeForTn(const CastSite&, TensorId q);
    GemmOperand operand(const CastSite&, const Quantized&, TensorId tensor);
    void multiply(const LinearGemm&, const GemmOperand& left, const GemmOperand& right);
    TensorId findAmax(const CastSite&, TensorId source);
    void appendAmax(const CastSite&, TensorId source, TensorId amax);
    TensorId scaleFromAmax(const CastSite&, TensorId amax, DType format);
    TensorId powerOfTwo(const CastSite&, TensorId scale);
    TensorId castChain(const CastSite&, TensorId source, TensorId scale, DType format, int statistics);
    TensorId scaleLike(const CastSite&, std::string_view what, DType type, TensorId shape);

    bool m_delayed;
    TensorId m_staging, m_history, m_scales, m_scaleInvs;
};

}  // namespace fp8scope::plan
