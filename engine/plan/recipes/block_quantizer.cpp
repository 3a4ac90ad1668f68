// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/recipes/block_quantizer.h"

namespace fp8scope::plan {
namespace {

/// Weights have square blocks, which serve both of their GEMMs; cuBLASLt multiplies those with 1x128 blocks only, and
/// every GEMM of a linear layer has at most one weight.
ScaleMode modeOf(RecipeKind kind, Operand operand)
{
    if (kind == RecipeKind::Mxfp8)
        return ScaleMode::Vec32Ue8m0;
    return operand == Operand::W ? ScaleMode::Blk128x128_32F : ScaleMode::Vec128_32F;
}

}  // namespace

void BlockQuantizer::emitGemm(const LinearGemm& gemm)
{
    const GemmOperand left = quantize(leftSite(gemm), gemm.left), right = quantize(rightSite(gemm), gemm.right);
    GemmCall call = gemmTn(m_plan, left, right, gemm.result);
    // Block scales are applied between exact partial sums on Hopper (Transformer Engine: always exact); on Blackwell,
    // where mxfp8 runs, the flag changes nothing and outputs keep it.
    call.fastAccumulation = m_plan.recipe.kind == RecipeKind::Mxfp8 && gemm.phase == Phase::Forward;
    appendGemm(gemm, call);
}

GemmOperand BlockQuantizer::quantize(const CastSite& site, TensorId source)
{
    const bool transposed = needsTranspose(site);
    const bool first = !quantized(site).source.valid();
    const DType format = quantized(site).format;
    const std::int64_t rows = m_plan.tensor(source).rows, cols = m_plan.tensor(source).cols;
    quantized(site).source = source;

    const TensorId q = transposed ? matrix(site, "qt", format, TensorClass::Transpose, cols, rows)
                                  : matrix(site, "q", format, TensorClass::Fp8Copy, rows, cols);
    ScaleLayout layout{modeOf(m_plan.recipe.kind, site.operand), transposed ? cols : rows, transposed ? rows : cols};
    const bool swizzle = layout.mode == ScaleMode::Vec32Ue8m0;
    layout.swizzled = false;
    const TensorId written = factors(site, swizzle ? "scale_inv_rows" : "scale_inv", layout);
    Op& cast = append(OpKind::BlockCast, site, transposed ? "cast_transpose" : "cast", source, q);
    if (transposed)
        cast.outputs = {TensorId::none(), TensorId::none(), q, written};
    else
        cast.outputs = {q, written, TensorId::none(), TensorId::none()};
    cast.fp8Type = format;
    cast.scaleMode = layout.mode;
    cast.quantized = first ? static_cast<int>(indexOf(site)) : -1;
    if (!swizzle)
        return {q, written, layout.mode};
    layout.swizzled = true;
    const TensorId wanted = factors(site, "scale_inv", layout);
    Op& swizzling = append(OpKind::ScaleLayout, site, "scale_layout", written, wanted);
    swizzling.scaleMode = layout.mode;
    return {q, wanted, layout.mode};
}

TensorId BlockQuantizer::factors(const CastSite& site, std::string_view what, const ScaleLayout& layout)
{
    const DType type = layout.mode == ScaleMode::Vec32Ue8m0 ? DType::E8m0 : DType::F32;
    return matrix(site, what, type, TensorClass::Scale, layout.storedRows(), layout.storedCols());
}

}  // namespace fp8scope::plan
