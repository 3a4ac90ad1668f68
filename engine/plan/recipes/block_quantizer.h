// SPDX-License-Identifier: Apache-2.0
// Emits the kernels that quantize a tensor with a scale for each block: one kernel finds amax and scale and casts, for
// an operand as it is or for its transpose, as torchao's and Transformer Engine's do. mxfp8 scales go through one more
// kernel into the layout that cuBLASLt wants. Internal to engine/plan.
#pragma once

#include "engine/plan/recipes/recipe_quantizer.h"

namespace fp8scope::plan {

/// Recipes blockwise and mxfp8.
class BlockQuantizer : public RecipeQuantizer {
public:
    explicit BlockQuantizer(PlanWriter& writer) : RecipeQuantizer(writer) {}

    void emitGemm(const LinearGemm&) override;

private:
    GemmOperand quantize(const CastSite&, TensorId source);
    TensorId factors(const CastSite&, std::string_view what, const ScaleLayout&);
};

}  // namespace fp8scope::plan
