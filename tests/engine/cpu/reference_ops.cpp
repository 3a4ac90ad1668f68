// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/cpu/reference_ops.h"

#include "engine/numerics/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace fp8scope::cpu {

using plan::Op;
using plan::OpKind;
using plan::TensorId;

namespace {

double roundTo(DType type, double value)
{
    const auto narrow = static_cast<float>(value);
    switch (type) {
    case DType::Bf16: return decodeBf16(encodeBf16(narrow));
    case DType::E4m3:
    case DType::E5m2: return decodeFp8(encodeFp8(narrow, type), type);
    case DType::F32: return narrow;
    default: return value;
    }
}

/// Half a unit in the last place of a type of `value`'s size, no less than the smallest normal's.
double halfUlp(DType type, double value)
{
    const int mantissaBits = type == DType::Bf16 ? 7 : 23;
    return std::ldexp(std::max(std::abs(value), double{std::numeric_limits<float>::min()}), -mantissaBits - 1);
}

double gelu(double z)
{
    return 0.5 * z * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
}

double geluSlope(double z)
{
    const double c = std::sqrt(2 / std::numbers::pi);
    const double t = std::tanh(c * (z + 0.044715 * z * z * z));
    return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * c * (1 + 3 * 0.044715 * z * z);
}

double quantized(double x, double scale, DType format)
{
    const float scaled = static_cast<float>(x) * static_cast<float>(scale);
    return decodeFp8(encodeFp8(scaled, format), format);
}

double largest(const std::vector<double>& x)
{
    double amax = 0;
    for (const double v : x)
        amax = std::max(amax, std::abs(v));
    return amax;
}

Expected exactly(TensorId tensor, std::vector<double> values) { return {tensor, std::move(values), {}}; }

Expected map(TensorId to, std::vector<double> x, const std::function<double(double)>& f)
{
    std::transform(x.begin(), x.end(), x.begin(), f);
    return exactly(to, std::move(x));
}

/// Every value within `relative` of its size (and of `floor`).
Expected within(double relative, double floor, TensorId tensor, std::vector<double> values)
{
    Expected e = exactly(tensor, std::move(values));
    for (const double v : e.values)
        e.tolerance.push_back(relative * std::max(std::abs(v), floor));
    return e;
}

}  // namespace

ReferenceStep::ReferenceStep(CpuExecutor& before)
    : m_executor(before), m_plan(before.plan()), m_kept(m_plan.tensors.size())
{
    for (std::uint32_t i = 0; i < m_plan.tensors.size(); ++i)
        if (m_plan.tensors[i].persistent)
            m_kept[i] = valuesAfterStep(TensorId(i));
}

std::vector<double> ReferenceStep::valuesAfterStep(TensorId id) const
{
    if (m_plan.tensor(id).type == DType::F64) {
        std::vector<double> values(static_cast<std::size_t>(m_plan.tensor(id).elements()));
        std::memcpy(values.data(), m_executor.bytes(id).data(), m_executor.bytes(id).size());
        return values;
    }
    const std::vector<float> values = m_executor.read(id);
    return {values.begin(), values.end()};
}

std::vector<double> ReferenceStep::operand(TensorId id) const
{
    const plan::Tensor& tensor = m_plan.tensor(id);
    if (tensor.viewOf.valid()) {
        const std::vector<double> whole = operand(tensor.viewOf);
        const auto first = whole.begin() + static_cast<std::ptrdiff_t>(tensor.viewBytes / sizeOf(tensor.type));
        return {first, first + tensor.elements()};
    }
    return m_kept[id.value].empty() ? valuesAfterStep(id) : m_kept[id.value];
}

bool ReferenceStep::survives(const Op& op, TensorId id) const
{
    const auto root = [&](TensorId t) { return m_plan.tensor(t).viewOf.valid() ? m_plan.tensor(t).viewOf : t; };
    for (const Op* later = &op + 1; later != m_plan.ops.data() + m_plan.ops.size(); ++later)
        for (const TensorId written : later->outputs)
            if (written.valid() && root(written) == root(id) &&
                (written == id || written == root(id) || id == root(id)))
                return false;
    return true;
}

/// What the op wrote becomes the operand of later ops. Where it survives, the executor's own result is that.
void ReferenceStep::remember(const Expected& e)
{
    const plan::Tensor& tensor = m_plan.tensor(e.tensor);
    std::vector<double> values = e.values;
    for (double& v : values)
        v = roundTo(tensor.type, v);
    if (!tensor.viewOf.valid()) {
        m_kept[e.tensor.value] = std::move(values);
        return;
    }
    std::vector<double>& whole = m_kept[tensor.viewOf.value];
    std::copy(values.begin(), values.end(),
              whole.begin() + static_cast<std::ptrdiff_t>(tensor.viewBytes / sizeOf(tensor.type)));
}

std::vector<Expected> ReferenceStep::expect(const Op& op)
{
    std::vector<Expected> expected;
    switch (op.kind) {
    case OpKind::LoadBatch: return {};
    case OpKind::Gemm: expected = gemm(*op.gemm); break;
    case OpKind::ScalarToF64:
    case OpKind::ScalarClampMin:
    case OpKind::ScalarReciprocal:
    case OpKind::ScalarMul:
    case OpKind::ScalarToF32:
    case OpKind::ScalarLog2:
    case OpKind::ScalarFloor:
    case OpKind::ScalarExp2: expected = {scalarOp(op)}; break;
    case OpKind::ScaleFromAmax: expected = scaleFromAmax(op); break;
    case OpKind::Transpose: {
        const plan::Tensor& q = m_plan.tensor(op.inputs[0]);
        expected = {transpose(op.outputs[0], operand(op.inputs[0]), q.rows, q.cols)};
        break;
    }
    case OpKind::CastTranspose: expected = castTranspose(op, operand(op.inputs[0])); break;
    case OpKind::CastTransposeDbias:
        expected = castTranspose(op, operand(op.inputs[0]));
        expected.push_back(columnSums(op.inputs[0], op.outputs[3]));
        break;
    case OpKind::ActCastTranspose: expected = castTranspose(op, activated(op.inputs[0])); break;
    case OpKind::BiasGrad: expected = {columnSums(op.inputs[0], op.outputs[0])}; break;
    case OpKind::ActBackward: expected = {exactly(op.outputs[0], activationUndone(op))}; break;
    case OpKind::ActBackwardAmax: {
        const std::vector<double> dz = activationUndone(op);
        expected = {exactly(op.outputs[0], dz), exactly(op.outputs[1], {largest(dz)})};
        if (op.outputs[2].valid())
            expected.push_back(columnSums(dz, op.outputs[2]));
        break;
    }
    case OpKind::ActBackwardCastTranspose: {
        const std::vector<double> dz = activationUndone(op);
        expected = quantization(op.outputs[0], op.outputs[1], op.outputs[2], dz, scalar(op.inputs[2]), op.fp8Type);
        if (op.outputs[3].valid())
            expected.push_back(columnSums(dz, op.outputs[3]));
        break;
    }
    case OpKind::ActAmax: {
        const std::vector<double> a = activated(op.inputs[0]);
        expected = {exactly(op.outputs[0], a)};
        for (std::size_t i = 1; i < op.outputs.size(); ++i)
            expected.push_back(amaxOf(op.outputs[i], op.outputs[0], a));
        break;
    }
    case OpKind::Amax:
        for (const TensorId amax : op.outputs)
            expected.push_back(amaxOf(amax, op.inputs[0], operand(op.inputs[0])));
        break;
    case OpKind::BlockCast: expected = blockCast(op, operand(op.inputs[0])); break;
    case OpKind::ActBlockCast: expected = blockCast(op, activated(op.inputs[0])); break;
    case OpKind::ScaleLayout: expected = {}; break;  // read through the GEMM that it is for
    case OpKind::RescaleOutput: expected = {rescaled(op)}; break;
    case OpKind::Loss: expected = loss(op); break;
    case OpKind::OptimizerStep: expected = optimizer(op); break;
    case OpKind::OptimizerCast:
        expected = optimizer(op);
        for (Expected& e : castOfUpdate(op))
            expected.push_back(std::move(e));
        break;
    case OpKind::DelayedScaleUpdate: expected = delayedUpdate(op); break;
    default: expected = {elementwise(op)}; break;
    }
    for (const Expected& e : expected)
        if (!survives(op, e.tensor) || m_plan.tensor(e.tensor).viewOf.valid() || m_plan.tensor(e.tensor).persistent)
            remember(e);
        else
            m_kept[e.tensor.value].clear();  // what was kept before is overwritten
    return expected;
}

/// The activation is applied to the rounded sum. Where that is not kept (relu), the sum's error is the result's.
std::vector<Expected> ReferenceStep::gemm(const plan::GemmCall& call) const
{
    Expected z = product(call);
    const plan::Activation activation = plan::activationOf(call.epilogue);
    if (activation == plan::Activation::None)
        return {z};
    if (activation == plan::Activation::Gelu && plan::writesAux(call.epilogue)) {
        z.tensor = call.aux;
        return {z, exactly(call.dTensor, activated(call.aux))};
    }
    for (double& v : z.values)
        v = activation == plan::Activation::Relu ? std::max(v, 0.0) : gelu(v);
    return {z};
}

bool ReferenceStep::maskBit(TensorId mask, std::size_t row, std::size_t col) const
{
    const auto words = static_cast<std::size_t>(m_plan.tensor(mask).cols);
    std::uint32_t word = 0;
    std::memcpy(&word, m_executor.bytes(mask).data() + (row * words + col / 32) * sizeof(word), sizeof(word));
    return (word >> (col % 32) & 1U) != 0;
}

/// dz, rounded once.
std::vector<double> ReferenceStep::activationUndone(const Op& op) const
{
    std::vector<double> dz = operand(op.inputs[0]);
    const auto cols = static_cast<std::size_t>(m_plan.tensor(op.inputs[0]).cols);
    if (m_plan.tensor(op.inputs[1]).type == DType::I32) {
        for (std::size_t i = 0; i < dz.size(); ++i)
            dz[i] = maskBit(op.inputs[1], i / cols, i % cols) ? dz[i] : 0;
        return dz;
    }
    const std::vector<double> z = operand(op.inputs[1]);
    const bool relu = m_plan.config.activation == plan::Activation::Relu;
    for (std::size_t i = 0; i < dz.size(); ++i) {
        const float slope = relu ? (z[i] <= 0 ? 0.0F : 1.0F) : static_cast<float>(geluSlope(z[i]));
        dz[i] = roundTo(DType::Bf16, double{static_cast<float>(dz[i]) * slope});
    }
    return dz;
}

std::vector<Expected> ReferenceStep::quantization(TensorId q, TensorId transposed, TensorId amax,
                                                  const std::vector<double>& x, double scale, DType format) const
{
    const plan::Tensor& shape = m_plan.tensor(q);
    std::vector<double> values = x;
    for (double& v : values)
        v = quantized(v, scale, format);
    std::vector<Expected> expected{exactly(q, values)};
    if (transposed.valid())
        expected.push_back(transpose(transposed, values, shape.rows, shape.cols));
    if (amax.valid())
        expected.push_back(exactly(amax, {largest(x)}));
    return expected;
}

/// Of the weight as the executor has it after the update.
std::vector<Expected> ReferenceStep::castOfUpdate(const Op& op) const
{
    const TensorId* const made = &op.outputs[op.outputs.size() - 3];
    return quantization(made[0], made[1], made[2], valuesAfterStep(op.outputs[0]),
                        scalar(m_plan.quantized[static_cast<std::size_t>(op.quantized)].scale), op.fp8Type);
}

Expected ReferenceStep::product(const plan::GemmCall& call) const
{
    const std::vector<double> a = operand(call.aTensor), b = operand(call.bTensor);
    const std::vector<double> aFactor = factors(call.aScaleMode, call.aScale, call.a),
                              bFactor = factors(call.bScaleMode, call.bScale, call.b);
    const std::vector<double> bias =
        call.bias.valid() ? operand(call.bias) : std::vector<double>(static_cast<std::size_t>(call.m()));
    const auto at = [](const plan::MatrixLayout& x, bool transposed, std::int64_t row, std::int64_t col) {
        return static_cast<std::size_t>(transposed ? row * x.ld + col : col * x.ld + row);
    };
    Expected e{.tensor = call.dTensor, .values = {}, .tolerance = {}};
    for (std::int64_t col = 0; col < call.n(); ++col)
        for (std::int64_t row = 0; row < call.m(); ++row) {
            double sum = 0, magnitude = 0;
            for (std::int64_t l = 0; l < call.k(); ++l) {
                const std::size_t i = at(call.a, call.transA, row, l), j = at(call.b, call.transB, l, col);
                const double product = call.alpha * a[i] * aFactor[i] * b[j] * bFactor[j];
                sum += product;
                magnitude += std::abs(product);
            }
            const double value = sum + bias[static_cast<std::size_t>(row)];
            // fp32 accumulation in any order: k 2^-24 of the magnitudes' sum; then one rounding.
            const double accumulation =
                std::ldexp(static_cast<double>(call.k()) * magnitude + 4 * std::abs(value), -24);
            e.values.push_back(value);
            e.tolerance.push_back(accumulation + halfUlp(call.d.type, std::abs(value) + accumulation));
        }
    return e;
}

std::vector<double> ReferenceStep::factors(ScaleMode mode, TensorId scale, const plan::MatrixLayout& matrix) const
{
    std::vector<double> all(static_cast<std::size_t>(matrix.ld * matrix.cols), 1);
    if (!scale.valid())
        return all;
    const std::vector<double> stored = operand(scale);
    const ScaleLayout layout{mode, matrix.cols, matrix.rows};
    for (std::int64_t outer = 0; outer < matrix.cols; ++outer)
        for (std::int64_t inner = 0; inner < matrix.rows; ++inner)
            all[static_cast<std::size_t>(outer * matrix.ld + inner)] = stored[static_cast<std::size_t>(
                layout.index(outer / layout.outerBlock(), inner / layout.innerBlock()))];
    return all;
}

std::vector<double> ReferenceStep::spread(TensorId numbers, TensorId matrix) const
{
    const std::vector<double> own = operand(numbers);
    const plan::Tensor& shape = m_plan.tensor(matrix);
    const auto cols = static_cast<std::size_t>(shape.cols);
    const bool rows = m_plan.tensor(numbers).cols == 1 && own.size() > 1;
    std::vector<double> all(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = own.size() == 1 ? own[0] : own[rows ? i / cols : i % cols];
    return all;
}

Expected ReferenceStep::amaxOf(TensorId amax, TensorId matrix, const std::vector<double>& x) const
{
    const plan::Tensor& wanted = m_plan.tensor(amax);
    const auto cols = static_cast<std::size_t>(m_plan.tensor(matrix).cols);
    std::vector<double> largestOf(static_cast<std::size_t>(wanted.elements()));
    for (std::size_t i = 0; i < x.size(); ++i) {
        double& most = largestOf[largestOf.size() == 1 ? 0 : wanted.cols == 1 ? i / cols : i % cols];
        most = std::max(most, std::abs(x[i]));
    }
    return exactly(amax, std::move(largestOf));
}

/// Codes and factors of x, block by block; with the factors as a plain kernel or as cuBLASLt wants them.
std::vector<Expected> ReferenceStep::blockCast(const Op& op, const std::vector<double>& x) const
{
    const plan::Recipe& recipe = m_plan.recipe;
    const plan::Tensor& shape = m_plan.tensor(op.inputs[0]);
    std::vector<Expected> expected;
    for (const bool transposed : {false, true}) {
        const TensorId q = op.outputs[transposed ? 2 : 0], scales = op.outputs[transposed ? 3 : 1];
        if (!q.valid())
            continue;
        const ScaleLayout layout{op.scaleMode, transposed ? shape.cols : shape.rows,
                                 transposed ? shape.rows : shape.cols, op.swizzledScales};
        const auto at = [&](std::int64_t outer, std::int64_t inner) {
            return x[static_cast<std::size_t>(transposed ? inner * shape.cols + outer : outer * shape.cols + inner)];
        };
        const auto blockOf = [&](std::int64_t outer, std::int64_t inner) {
            return static_cast<std::size_t>(layout.index(outer / layout.outerBlock(), inner / layout.innerBlock()));
        };
        const auto count = static_cast<std::size_t>(layout.storedRows() * layout.storedCols());
        std::vector<double> amaxes(count), multipliers(count), inverses(count), codes(x.size());
        std::vector<bool> used(count);
        for (std::int64_t o = 0; o < layout.outer; ++o)
            for (std::int64_t i = 0; i < layout.inner; ++i) {
                used[blockOf(o, i)] = true;
                amaxes[blockOf(o, i)] = std::max(amaxes[blockOf(o, i)], std::abs(at(o, i)));
            }
        const bool mxfp8 = op.scaleMode == ScaleMode::Vec32Ue8m0;
        for (std::size_t b = 0; b < count; ++b) {
            const auto amax = static_cast<float>(amaxes[b]);
            const std::uint8_t code = used[b] ? e8m0FromAmax(amax, op.fp8Type, recipe.e8m0Rounding) : std::uint8_t{0};
            const float scale =
                mxfp8 ? scaleOfE8m0(code)
                      : blockScale(amax, op.fp8Type, static_cast<float>(recipe.minAmax), recipe.powerOfTwo);
            multipliers[b] = scale;
            inverses[b] = mxfp8 ? decodeE8m0(code) : used[b] ? 1.0F / scale : 0.0F;
        }
        for (std::int64_t o = 0; o < layout.outer; ++o)
            for (std::int64_t i = 0; i < layout.inner; ++i)
                codes[static_cast<std::size_t>(o * layout.inner + i)] =
                    quantized(at(o, i), multipliers[blockOf(o, i)], op.fp8Type);
        expected.push_back(exactly(q, std::move(codes)));
        expected.push_back(exactly(scales, std::move(inverses)));
    }
    if (op.outputs.size() > 4)
        expected.push_back(columnSums(op.inputs[0], op.outputs[4]));
    return expected;
}

Expected ReferenceStep::rescaled(const Op& op) const
{
    const std::vector<double> x = operand(op.inputs[0]);
    const std::vector<double> rows = operand(op.inputs[1]), columns = operand(op.inputs[2]);
    const auto cols = static_cast<std::size_t>(m_plan.tensor(op.inputs[0]).cols);
    Expected e = exactly(op.outputs[0], x);
    for (std::size_t i = 0; i < x.size(); ++i) {
        e.values[i] = x[i] * rows[rows.size() == 1 ? 0 : i / cols] * columns[columns.size() == 1 ? 0 : i % cols];
        e.tolerance.push_back(1.01 * halfUlp(m_plan.tensor(op.outputs[0]).type, e.values[i]));
    }
    return e;
}

Expected ReferenceStep::elementwise(const Op& op) const
{
    const TensorId out = op.outputs[0];
    const std::vector<double> x = operand(op.inputs[0]);
    switch (op.kind) {
    case OpKind::Abs: return map(out, x, [](double v) { return std::abs(v); });
    case OpKind::MaxReduce: return amaxOf(out, op.inputs[0], x);
    case OpKind::ToF32: return exactly(out, x);
    case OpKind::MulScale: {
        Expected e = exactly(out, x);
        const std::vector<double> scale = spread(op.inputs[1], op.inputs[0]);
        for (std::size_t i = 0; i < x.size(); ++i)
            e.values[i] = static_cast<float>(x[i]) * static_cast<float>(scale[i]);
        return e;
    }
    case OpKind::Clamp: return map(out, x, [&](double v) { return std::clamp(v, -op.constant, op.constant); });
    case OpKind::ToFp8: return map(out, x, [&](double v) { return quantized(v, 1, op.fp8Type); });
    case OpKind::Cast: {
        Expected e = exactly(out, x);
        const std::vector<double> scale = spread(op.inputs[1], op.inputs[0]);
        for (std::size_t i = 0; i < x.size(); ++i)
            e.values[i] = quantized(x[i], scale[i], op.fp8Type);
        return e;
    }
    case OpKind::ActForward: return exactly(out, activated(op.inputs[0]));
    case OpKind::BiasAdd: {
        Expected e = exactly(out, x);
        const std::vector<double> bias = operand(op.inputs[1]);
        for (std::size_t i = 0; i < x.size(); ++i) {
            e.values[i] += bias[i % bias.size()];
            // The GEMM's result that was added to is not kept: it may have been rounded to the other neighbour.
            e.tolerance.push_back(2 * halfUlp(DType::Bf16, x[i]) + 2 * halfUlp(DType::Bf16, e.values[i]));
        }
        return e;
    }
    default: throw std::logic_error("no reference for " + op.name);
    }
}

std::vector<double> ReferenceStep::activated(TensorId z) const
{
    std::vector<double> a = operand(z);
    for (double& v : a)
        v = roundTo(DType::Bf16, m_plan.config.activation == plan::Activation::Relu ? std::max(v, 0.0) : gelu(v));
    return a;
}

Expected ReferenceStep::scalarOp(const Op& op) const
{
    const DType type = m_plan.tensor(op.outputs[0]).type;
    const auto narrow = [](double v) { return static_cast<float>(v); };
    return map(op.outputs[0], operand(op.inputs[0]), [&](double value) -> double {
        switch (op.kind) {
        case OpKind::ScalarClampMin: return std::max(value, op.constant);
        case OpKind::ScalarReciprocal: return roundTo(type, 1 / value);
        case OpKind::ScalarMul: return roundTo(type, value * op.constant);
        case OpKind::ScalarLog2: return std::log2(narrow(value));
        case OpKind::ScalarFloor: return std::floor(narrow(value));
        case OpKind::ScalarExp2: return std::exp2(narrow(value));
        default: return roundTo(type, value);
        }
    });
}

std::vector<Expected> ReferenceStep::scaleFromAmax(const Op& op) const
{
    std::vector<Expected> expected;
    for (std::size_t set = 0; set < op.inputs.size(); ++set) {
        expected.push_back(map(op.outputs[2 * set], operand(op.inputs[set]), [&](double amax) -> double {
            const double clamped = std::max(amax, m_plan.recipe.minAmax);
            const auto scale = static_cast<float>(1 / clamped * double{fp8Max(op.fp8Type)});
            return m_plan.recipe.powerOfTwo ? std::exp2(std::floor(std::log2(scale))) : scale;
        }));
        if (op.outputs.size() > 2 * set + 1 && op.outputs[2 * set + 1].valid())
            expected.push_back(map(op.outputs[2 * set + 1], expected.back().values,
                                   [](double scale) { return 1.0F / static_cast<float>(scale); }));
    }
    return expected;
}

Expected ReferenceStep::transpose(TensorId to, const std::vector<double>& x, std::int64_t rows, std::int64_t cols) const
{
    std::vector<double> t(x.size());
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
            t[static_cast<std::size_t>(c * rows + r)] = x[static_cast<std::size_t>(r * cols + c)];
    return exactly(to, std::move(t));
}

std::vector<Expected> ReferenceStep::castTranspose(const Op& op, const std::vector<double>& x) const
{
    const plan::Tensor& shape = m_plan.tensor(op.inputs[0]);
    std::vector<double> q = x, forTranspose = x;
    const std::vector<double> scale = spread(op.inputs[1], op.inputs[0]),
                              other = spread(op.inputs[op.inputs.size() > 2 ? 2 : 1], op.inputs[0]);
    for (std::size_t i = 0; i < x.size(); ++i) {
        q[i] = quantized(x[i], scale[i], op.fp8Type);
        forTranspose[i] = quantized(x[i], other[i], op.fp8Type);
    }
    std::vector<Expected> expected{transpose(op.outputs[1], forTranspose, shape.rows, shape.cols)};
    if (op.outputs[0].valid())
        expected.push_back(exactly(op.outputs[0], q));
    if (op.outputs[2].valid())
        expected.push_back(exactly(op.outputs[2], {largest(x)}));
    return expected;
}

Expected ReferenceStep::columnSums(TensorId from, TensorId to) const { return columnSums(operand(from), to); }

Expected ReferenceStep::columnSums(const std::vector<double>& x, TensorId to) const
{
    const auto cols = static_cast<std::size_t>(m_plan.tensor(to).elements());
    Expected e{.tensor = to, .values = std::vector<double>(cols), .tolerance = std::vector<double>(cols)};
    for (std::size_t i = 0; i < x.size(); ++i) {
        e.values[i % cols] += x[i];
        e.tolerance[i % cols] += std::ldexp(std::abs(x[i]) * static_cast<double>(x.size() / cols), -24);
    }
    return e;
}

std::vector<Expected> ReferenceStep::loss(const Op& op) const
{
    const plan::Tensor& shape = m_plan.tensor(op.inputs[0]);
    const std::vector<double> y = operand(op.inputs[0]), target = operand(op.inputs[1]);
    const auto rows = static_cast<std::size_t>(shape.rows), cols = static_cast<std::size_t>(shape.cols);
    std::vector<double> dy(y.size());
    double sum = 0;
    if (m_plan.config.loss == plan::Loss::MeanSquaredError) {
        for (std::size_t i = 0; i < y.size(); ++i) {
            sum += (y[i] - target[i]) * (y[i] - target[i]) / static_cast<double>(y.size());
            dy[i] = 2 * (y[i] - target[i]) / static_cast<double>(y.size());
        }
    } else {
        for (std::size_t r = 0; r < rows; ++r) {
            double exponentials = 0;
            for (std::size_t c = 0; c < cols; ++c)
                exponentials += std::exp(y[r * cols + c]);
            const auto label = static_cast<std::size_t>(target[r]);
            sum += (std::log(exponentials) - y[r * cols + label]) / static_cast<double>(rows);
            for (std::size_t c = 0; c < cols; ++c)
                dy[r * cols + c] =
                    (std::exp(y[r * cols + c]) / exponentials - (c == label ? 1 : 0)) / static_cast<double>(rows);
        }
    }
    // One bf16 rounding, after differences in fp32 whose error is of the gradient's largest possible size.
    const double floor =
        std::ldexp((m_plan.config.loss == plan::Loss::MeanSquaredError ? 8.0 / static_cast<double>(y.size())
                                                                       : 1.0 / static_cast<double>(rows)),
                   -12);
    return {within(std::ldexp(1.01, -8), floor, op.outputs[0], dy), within(1e-5, 0, op.outputs[1], {sum})};
}

std::vector<Expected> ReferenceStep::optimizer(const Op& op) const
{
    const plan::OptimizerConfig& o = m_plan.config.optimizer;
    const bool adam = o.kind == plan::OptimizerKind::Adam;
    const std::size_t each = adam ? 4 : 3;
    const std::size_t parameters = op.inputs.size();
    const TensorId count = op.outputs[parameters * each];
    const double step = scalar(count) + 1;
    std::vector<Expected> expected{exactly(count, {step})};
    for (std::size_t p = 0; p < parameters; ++p) {
        const TensorId* const out = &op.outputs[p * each];
        const std::vector<double> g = operand(op.inputs[p]);
        std::vector<double> master = operand(out[1]), first = operand(out[2]), second = adam ? operand(out[3]) : first;
        for (std::size_t i = 0; i < g.size(); ++i) {
            if (adam) {
                first[i] = o.beta1 * first[i] + (1 - o.beta1) * g[i];
                second[i] = o.beta2 * second[i] + (1 - o.beta2) * g[i] * g[i];
                master[i] -= o.learningRate * first[i] / (1 - std::pow(o.beta1, step)) /
                             (std::sqrt(second[i] / (1 - std::pow(o.beta2, step))) + o.epsilon);
            } else {
                first[i] = o.momentum * first[i] + g[i];
                master[i] -= o.learningRate * first[i];
            }
        }
        // States: a few fp32 roundings, of terms that may cancel. Masters: the update, at most about learningRate for
        // Adam, is rounded in fp32 as well.
        expected.push_back(within(2e-7, largest(g) + largest(first), out[2], first));
        if (adam)
            expected.push_back(within(1e-5, largest(g) * largest(g) * 1e-3, out[3], second));
        expected.push_back(within(2e-7, largest(master) + 100 * o.learningRate, out[1], master));
        expected.push_back(within(std::ldexp(1.01, -8), std::ldexp(largest(master), -12), out[0], master));
    }
    return expected;
}

/// Transformer Engine's roll, in its own words: move left, append, zero the first, scale from the largest.
std::vector<Expected> ReferenceStep::delayedUpdate(const Op& op) const
{
    const std::vector<double> staged = operand(op.inputs[0]);
    std::vector<double> history = operand(op.inputs[1]), scales = operand(op.outputs[0]),
                        inverses = operand(op.outputs[1]);
    const std::size_t length = history.size() / staged.size();
    for (std::size_t t = 0; t < staged.size(); ++t) {
        if (staged[t] != 0) {
            const auto begin = history.begin() + static_cast<std::ptrdiff_t>(t * length);
            const auto end = begin + static_cast<std::ptrdiff_t>(length);
            std::rotate(begin, begin + 1, end);
            *(end - 1) = staged[t];
            const bool newest = m_plan.recipe.amaxAlgorithm == AmaxAlgorithm::MostRecent;
            const double amax = newest ? staged[t] : *std::max_element(begin, end);
            *begin = 0;
            const double largest = std::ldexp(double{fp8Max(m_plan.quantized[t].format)}, -m_plan.recipe.margin);
            scales[t] = static_cast<float>(largest) / static_cast<float>(amax);
        }
        inverses[t] = 1.0F / static_cast<float>(scales[t]);
    }
    return {exactly(op.outputs[0], scales), exactly(op.outputs[1], inverses), exactly(op.outputs[2], history),
            exactly(op.outputs[3], std::vector<double>(staged.size()))};
}

}  // namespace fp8scope::cpu
