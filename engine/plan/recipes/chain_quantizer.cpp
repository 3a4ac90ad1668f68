// SPDX-License-Identifier: Apache-2.0
// The eager kernels of a quantization, one op each. Formulas and launches: resources/help/recipes.md.
#include "engine/plan/recipes/chain_quantizer.h"

namespace fp8scope::plan {
ChainQuantizer::ChainQuantizer(PlanWriter& writer)
    : RecipeQuantizer(writer), m_delayed(m_plan.recipe.kind == RecipeKind::Delayed)
{
    if (m_delayed && !m_plan.quantized.empty())
        addBulkState();
}

void ChainQuantizer::addBulkState()
{
    const auto count = static_cast<std::int64_t>(m_plan.quantized.size());
    const auto bulk = [&](const char* name, std::int64_t rows, std::int64_t cols, float initial) {
        return m_writer.add({.name = name,
                             .type = DType::F32,
                             .rows = rows,
                             .cols = cols,
                             .cls = TensorClass::Scale,
                             .persistent = true,
                             .initialValue = initial});
    };
    m_staging = bulk("delayed.amax", 1, count, 0);
    m_history = bulk("delayed.history", count, m_plan.recipe.historyLength, 0);
    m_scales = bulk("delayed.scale", 1, count, 1);
    m_scaleInvs = bulk("delayed.scale_inv", 1, count, 1);
    for (std::size_t i = 0; i < m_plan.quantized.size(); ++i) {
        QuantizedTensor& entry = m_plan.quantized[i];
        const auto slot = [&](TensorId parent, const char* what) {
            return m_writer.add({.name = joined({entry.name, ".", what}),
                                 .type = DType::F32,
                                 .cls = TensorClass::Scale,
                                 .layer = entry.layer,
                                 .persistent = true,
                                 .viewOf = parent,
                                 .viewBytes = i * sizeof(float)});
        };
        entry.amax = slot(m_staging, "amax");
        entry.scale = slot(m_scales, "scale");
        entry.scaleInv = slot(m_scaleInvs, "scale_inv");
    }
}

ChainQuantizer::Granularity ChainQuantizer::granularityOf(const CastSite& site) const
{
    const RecipeKind kind = m_plan.recipe.kind;
    const bool dgradWeight = site.phase == Phase::Dgrad && site.operand == Operand::W;
    if (scalesWholeTensors(kind) || (kind == RecipeKind::RowwiseWithGwHp && dgradWeight))
        return Granularity::Tensor;
    return needsTranspose(site) ? Granularity::Column : Granularity::Row;
}

void ChainQuantizer::emitGemm(const LinearGemm& gemm)
{
    if (m_plan.recipe.kind == RecipeKind::RowwiseWithGwHp && gemm.phase == Phase::Wgrad) {
        appendGemm(gemm, gemmNt(m_plan, {gemm.left, {}}, {gemm.right, {}}, gemm.result));
        return;
    }
    const CastSite left = leftSite(gemm), right = rightSite(gemm);
    const Quantized x = quantize(left, gemm.left), y = quantize(right, gemm.right);
    const TensorId xForTn = transposeForTn(left, x.q), yForTn = transposeForTn(right, y.q);
    const GemmOperand xOperand = operand(left, x, xForTn), yOperand = operand(right, y, yForTn);
    multiply(gemm, xOperand, yOperand);
}

/// Outputs with fast accumulation, gradients exact, as torchao and Transformer Engine do. Where scales are of rows and
/// the accumulation is exact, torchao multiplies with unit scales and applies the factors afterwards: its rowwise
/// kernel is slow there.
void ChainQuantizer::multiply(const LinearGemm& gemm, const GemmOperand& left, const GemmOperand& right)
{
    if (scalesWholeTensors(m_plan.recipe.kind) || gemm.phase == Phase::Forward) {
        GemmCall call = gemmTn(m_plan, left, right, gemm.result);
        call.fastAccumulation = gemm.phase == Phase::Forward;
        appendGemm(gemm, call);
        return;
    }
    Tensor unscaled = m_plan.tensor(gemm.result);
    unscaled.name += ".unscaled";
    unscaled.cls = TensorClass::Workspace;
    const TensorId product = m_writer.add(std::move(unscaled));
    const Op& op = appendGemm(gemm, gemmTn(m_plan, {left.tensor, {}}, {right.tensor, {}}, product));
    m_writer.append(OpKind::RescaleOutput,
                    joined({std::string_view(op.name).substr(0, op.name.rfind('.')), ".rescale"}), gemm.phase,
                    gemm.layer, {product, left.scaleInv, right.scaleInv}, {gemm.result});
}

ChainQuantizer::Quantized ChainQuantizer::quantize(const CastSite& site, TensorId source)
{
    const std::size_t index = indexOf(site);
    const bool first = !quantized(site).source.valid();
    const DType format = quantized(site).format;
    quantized(site).source = source;
    TensorId scale = quantized(site).scale;
    if (!m_delayed) {
        const TensorId amax = findAmax(site, source);
        scale = scaleFromAmax(site, amax, format);
        if (first) {
            quantized(site).amax = amax;
            quantized(site).scale = scale;
        }
    } else if (first) {
        appendAmax(site, source, quantized(site).amax);  // for the next steps; this one uses the scale it has
    }
    const TensorId q = castChain(site, source, scale, format, first ? static_cast<int>(index) : -1);
    return {q, scale, first};
}

TensorId ChainQuantizer::findAmax(const CastSite& site, TensorId source)
{
    const Granularity granularity = granularityOf(site);
    const std::int64_t rows = granularity == Granularity::Row ? m_plan.tensor(source).rows : 1;
    const std::int64_t cols = granularity == Granularity::Column ? m_plan.tensor(source).cols : 1;
    const TensorId amax = matrix(site, "amax", DType::F32, TensorClass::Scale, rows, cols);
    appendAmax(site, source, amax);
    return amax;
}

void ChainQuantizer::appendAmax(const CastSite& site, TensorId source, TensorId amax)
{
    const std::int64_t rows = m_plan.tensor(source).rows, cols = m_plan.tensor(source).cols;
    const TensorId magnitude = matrix(site, "abs", DType::Bf16, TensorClass::Workspace, rows, cols);
    append(OpKind::Abs, site, "abs", source, magnitude);
    append(OpKind::MaxReduce, site, "max", magnitude, amax);
}

/// scale = fp8Max / max(amax, minAmax) in fp64, as PyTorch computes `number / tensor`: reciprocal, then multiply.
TensorId ChainQuantizer::scaleFromAmax(const CastSite& site, TensorId amax, DType format)
{
    const TensorId wide = scaleLike(site, "amax_f64", DType::F64, amax);
    append(OpKind::ScalarToF64, site, "amax_to_f64", amax, wide).fp8Type = format;
    const TensorId floored = scaleLike(site, "amax_floored", DType::F64, amax);
    append(OpKind::ScalarClampMin, site, "amax_clamp_min", wide, floored).constant = m_plan.recipe.minAmax;
    const TensorId reciprocal = scaleLike(site, "amax_reciprocal", DType::F64, amax);
    append(OpKind::ScalarReciprocal, site, "amax_reciprocal", floored, reciprocal);
    const TensorId wideScale = scaleLike(site, "scale_f64", DType::F64, amax);
    append(OpKind::ScalarMul, site, "scale_mul", reciprocal, wideScale).constant = static_cast<double>(fp8Max(format));
    const bool rounded = m_plan.recipe.powerOfTwo;
    const TensorId scale = scaleLike(site, rounded ? "scale_f32" : "scale", DType::F32, amax);
    append(OpKind::ScalarToF32, site, "scale_to_f32", wideScale, scale).fp8Type = format;
    return rounded ? powerOfTwo(site, scale) : scale;
}

TensorId ChainQuantizer::powerOfTwo(const CastSite& site, TensorId scale)
{
    const TensorId exponent = scaleLike(site, "scale_log2", DType::F32, scale);
    append(OpKind::ScalarLog2, site, "scale_log2", scale, exponent);
    const TensorId floored = scaleLike(site, "scale_floor", DType::F32, scale);
    append(OpKind::ScalarFloor, site, "scale_floor", exponent, floored);
    const TensorId rounded = scaleLike(site, "scale", DType::F32, scale);
    append(OpKind::ScalarExp2, site, "scale_exp2", floored, rounded).fp8Type = m_plan.quantized[indexOf(site)].format;
    return rounded;
}

TensorId ChainQuantizer::castChain(const CastSite& site, TensorId source, TensorId scale, DType format, int statistics)
{
    const std::int64_t rows = m_plan.tensor(source).rows, cols = m_plan.tensor(source).cols;
    const TensorId wide = matrix(site, "f32", DType::F32, TensorClass::Workspace, rows, cols);
    append(OpKind::ToF32, site, "to_f32", source, wide);
    const TensorId scaled = matrix(site, "scaled", DType::F32, TensorClass::Workspace, rows, cols);
    append(OpKind::MulScale, site, "mul_scale", wide, scaled).inputs.push_back(scale);
    const TensorId clamped = matrix(site, "clamped", DType::F32, TensorClass::Workspace, rows, cols);
    Op& clamp = append(OpKind::Clamp, site, "clamp", scaled, clamped);
    clamp.constant = static_cast<double>(fp8Max(format));
    clamp.fp8Type = format;
    clamp.quantized = statistics;
    const TensorId q = matrix(site, "q", format, TensorClass::Fp8Copy, rows, cols);
    Op& toFp8 = append(OpKind::ToFp8, site, "to_fp8", clamped, q);
    toFp8.fp8Type = format;
    toFp8.quantized = statistics;
    return q;
}

TensorId ChainQuantizer::transposeForTn(const CastSite& site, TensorId q)
{
    if (!needsTranspose(site))
        return q;
    const Tensor source = m_plan.tensor(q);
    const TensorId transposed = matrix(site, "qt", source.type, TensorClass::Transpose, source.cols, source.rows);
    append(OpKind::Transpose, site, "transpose", q, transposed).fp8Type = source.type;
    return transposed;
}

/// `tensor` (q or its transpose) as a GEMM operand with its dequantization factors.
GemmOperand ChainQuantizer::operand(const CastSite& site, const Quantized& value, TensorId tensor)
{
    if (m_delayed)
        return {tensor, quantized(site).scaleInv};
    const TensorId scaleInv = scaleLike(site, "scale_inv", DType::F32, value.scale);
    append(OpKind::ScalarReciprocal, site, "scale_inv", value.scale, scaleInv);
    if (value.first)
        quantized(site).scaleInv = scaleInv;
    const bool whole = granularityOf(site) == Granularity::Tensor;
    return {tensor, scaleInv, whole ? ScaleMode::Scalar32F : ScaleMode::OuterVec32F};
}

void ChainQuantizer::finishStep()
{
    if (m_plan.recipe.kind == RecipeKind::RowwiseWithGwHp)
        forgetUnquantized();  // the first layer's gradient is used in bf16 only
    if (!m_staging.valid())
        return;
    m_writer.append(OpKind::DelayedScaleUpdate, "delayed_scale_update", Phase::Other, -1, {m_staging, m_history},
                    {m_scales, m_scaleInvs, m_history, m_staging});
}

/// One number for each of `shape`'s.
TensorId ChainQuantizer::scaleLike(const CastSite& site, std::string_view what, DType type, TensorId shape)
{
    const Tensor& like = m_plan.tensor(shape);
    return matrix(site, what, type, TensorClass::Scale, like.rows, like.cols);
}

}  // namespace fp8scope::plan
