// SPDX-License-Identifier: Apache-2.0
// What the recipes' quantizers share: the tensors that a step quantizes, where a cast happens, and how the cast's ops
// and tensors are named. Internal to engine/plan.
#pragma once

#include "engine/plan/gemm_calls.h"
#include "engine/plan/quantizer.h"

namespace fp8scope::plan {

/// The three tensors of a linear layer that are quantized; their order is that of StepPlan::quantized.
enum class Operand : std::uint8_t { X, W, Dy };
[[nodiscard]] std::string_view toString(Operand);

/// Where in the step a cast happens.
struct CastSite {
    int layer = 0;
    Phase phase = Phase::Forward;
    Operand operand = Operand::X;
};

/// The operands of a LinearGemm as cast sites.
[[nodiscard]] CastSite leftSite(const LinearGemm&);
[[nodiscard]] CastSite rightSite(const LinearGemm&);

/// Whether the operand must be transposed for the one layout (TN) in which the GEMM's inner dimension is contiguous in
/// both operands.
[[nodiscard]] constexpr bool needsTranspose(const CastSite& site)
{
    return site.phase == Phase::Wgrad || (site.phase == Phase::Dgrad && site.operand == Operand::W);
}

class RecipeQuantizer : public Quantizer {
protected:
    explicit RecipeQuantizer(PlanWriter&);

    [[nodiscard]] std::size_t indexOf(const CastSite& site) const  ///< into StepPlan::quantized
    {
        return m_firstIndex[static_cast<std::size_t>(site.layer)] + static_cast<std::size_t>(site.operand);
    }
    [[nodiscard]] QuantizedTensor& quantized(const CastSite& site) { return m_plan.quantized[indexOf(site)]; }

    TensorId matrix(const CastSite&, std::string_view what, DType type, TensorClass cls, std::int64_t rows,
                    std::int64_t cols);
    Op& append(OpKind, const CastSite&, std::string_view verb, TensorId input, TensorId output);
    Op& appendGemm(const LinearGemm&, const GemmCall&);
    /// Takes the tensors that the step never quantized out of StepPlan::quantized.
    void forgetUnquantized();

    PlanWriter& m_writer;
    StepPlan& m_plan;

private:
    [[nodiscard]] const std::string& layerName(int layer) const
    {
        return m_plan.layers[static_cast<std::size_t>(layer)].name;
    }

    std::vector<std::size_t> m_firstIndex;  ///< by layer: where its x stands in StepPlan::quantized
};

}  // namespace fp8scope::plan
