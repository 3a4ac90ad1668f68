// SPDX-License-Identifier: Apache-2.0
// A column-major D = A B is the row-major D^T = B^T A^T: oneDNN's source is B, its weights are A, and cuBLASLt's
// layouts are only strides. Scale and bias are binary post-ops, which oneDNN 2 and 3 both run inside the GEMM, in fp32,
// before rounding.
#include "engine/cpu/gemm.h"

#include "collector/trace/error.h"
#include "engine/cpu/aligned_bytes.h"
#include "engine/cpu/parallel_for.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fp8scope::cpu {

namespace {

using dnnl::memory;
using kernels::Bf16;
using kernels::Fp8;
using plan::GemmCall;
using plan::MatrixLayout;

constexpr std::int64_t kDecodeGrain = 1 << 14;  // elements that are worth a thread

memory::data_type oneDnnType(DType type)
{
    switch (type) {
    case DType::F32: return memory::data_type::f32;
    case DType::Bf16: return memory::data_type::bf16;
    default: return memory::data_type::undef;
    }
}

/// The elements from a matrix's first to its last one, gaps between columns included.
std::int64_t storageElements(const MatrixLayout& layout) { return (layout.cols - 1) * layout.ld + layout.rows; }

/// Factors that differ within an operand and so go into its elements; one factor goes into the product.
bool hasManyScales(ScaleMode mode) { return mode != ScaleMode::None && mode != ScaleMode::Scalar32F; }

/// The type that oneDNN is given: what D can be made of, where bf16 holds the operands exactly.
DType operandType(const GemmCall& call, GemmArithmetic arithmetic, ScaleValues scales)
{
    const bool inexact =
        scales == ScaleValues::Any && (hasManyScales(call.aScaleMode) || hasManyScales(call.bScaleMode));
    const bool wide = call.a.type == DType::F32 || call.b.type == DType::F32 || inexact;
    return arithmetic == GemmArithmetic::Bf16 && !wide ? DType::Bf16 : DType::F32;
}

/// oneDNN writes D itself unless D must be rounded from f32 results or added to.
bool writesDirectly(const GemmCall& call, DType operands)
{
    return call.beta == 0 && (call.d.type == DType::F32 || operands == DType::Bf16);
}

struct ScratchBytes {
    std::size_t a = 0, b = 0, d = 0;
};

ScratchBytes scratchFor(const GemmCall& call, DType type)
{
    const auto bytes = [](const MatrixLayout& layout, DType as) {
        return static_cast<std::size_t>(storageElements(layout)) * sizeOf(as);
    };
    ScratchBytes need;
    need.a = call.a.type == type ? 0 : bytes(call.a, type);
    need.b = call.b.type == type ? 0 : bytes(call.b, type);
    need.d = writesDirectly(call, type) ? 0 : bytes(call.d, DType::F32);
    return need;
}

void check(const GemmCall& call)
{
    const auto refuse = [](std::string what) {
        throw Error(std::move(what), "GEMM on the CPU", "this is a mistake in the plan: please report it");
    };
    for (const DType type : {call.a.type, call.b.type})
        if (type == DType::F64 || type == DType::I32)
            refuse(fmt::format("operands of type {} are not supported", toString(type)));
    if (call.d.type != DType::F32 && call.d.type != DType::Bf16)
        refuse(fmt::format("results of type {} are not supported", toString(call.d.type)));
    if (plan::activationOf(call.epilogue) != plan::Activation::None && call.d.type != DType::Bf16)
        refuse(fmt::format("an activation of a {} result is not supported", toString(call.d.type)));
    if (plan::addsBias(call.epilogue) && call.biasType != DType::Bf16 && call.biasType != DType::F32)
        refuse(fmt::format("a bias of type {} is not supported", toString(call.biasType)));
    const auto rowsOf = [](const MatrixLayout& x, bool transposed) { return transposed ? x.cols : x.rows; };
    const auto colsOf = [](const MatrixLayout& x, bool transposed) { return transposed ? x.rows : x.cols; };
    if (rowsOf(call.a, call.transA) != call.m() || colsOf(call.a, call.transA) != call.k() ||
        rowsOf(call.b, call.transB) != call.k() || colsOf(call.b, call.transB) != call.n())
        refuse("the operands' shapes do not fit together");
    for (const MatrixLayout& x : {call.a, call.b, call.d})
        if (x.rows < 1 || x.cols < 1 || x.ld < x.rows)
            refuse("a leading dimension is smaller than the rows, or a matrix is empty");
    const auto gaps = [](const MatrixLayout& x, ScaleMode mode) { return hasManyScales(mode) && x.ld != x.rows; };
    if ((hasManyScales(call.aScaleMode) && !call.transA) || (hasManyScales(call.bScaleMode) && call.transB) ||
        gaps(call.a, call.aScaleMode) || gaps(call.b, call.bScaleMode))
        refuse("operands with scales for rows or blocks must be TN and without gaps");
}

float scalarAt(const std::byte* bytes)
{
    float value = 1;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

/// op(X) for oneDNN, seen as rows x cols in its row-major view (the transpose of cuBLASLt's).
memory::desc describe(const MatrixLayout& layout, bool transposed, DType type)
{
    const memory::dims strides = transposed ? memory::dims{1, layout.ld} : memory::dims{layout.ld, 1};
    const memory::dims dims =
        transposed ? memory::dims{layout.rows, layout.cols} : memory::dims{layout.cols, layout.rows};
    return {dims, oneDnnType(type), strides};
}

dnnl::matmul::primitive_desc describeMatmul(const dnnl::engine& engine, const memory::desc& source,
                                            const memory::desc& weights, const memory::desc& result,
                                            const dnnl::primitive_attr& attributes)
{
#if DNNL_VERSION_MAJOR >= 3
    return {engine, source, weights, result, attributes};
#else
    return {dnnl::matmul::desc(source, weights, result), attributes, engine};
#endif
}

}  // namespace

GemmArithmetic nativeGemmArithmetic()
{
    // oneDNN's values are sets of bits, so that a later instruction set contains the earlier ones.
    const auto here = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto bf16 = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
    return (here & bf16) == bf16 ? GemmArithmetic::Bf16 : GemmArithmetic::F32;
}

std::size_t gemmScratchBytes(std::span<const plan::Op> ops, GemmArithmetic arithmetic, ScaleValues scales)
{
    ScratchBytes most;
    for (const plan::Op& op : ops) {
        const ScratchBytes need =
            op.gemm ? scratchFor(*op.gemm, operandType(*op.gemm, arithmetic, scales)) : ScratchBytes{};
        most = {std::max(most.a, need.a), std::max(most.b, need.b), std::max(most.d, need.d)};
    }
    return most.a + most.b + most.d;
}

struct GemmRunner::Impl {
    struct Prepared {
        GemmCall call;
        DType operands = DType::F32;
        bool direct = true;       // oneDNN writes D
        bool scaled = false;      // with a factor, updated before each run
        bool biasInside = false;  // as a post-op
        dnnl::matmul matmul;
        memory source, weights, result, scale, bias;
        std::unordered_map<int, memory> arguments;
    };

    const kernels::CpuKernels* kernels;
    GemmArithmetic arithmetic;
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::vector<Prepared> prepared;
    AlignedBytes scratchA, scratchB, scratchD;
    std::int64_t libraryNs = 0;

    Prepared build(const GemmCall&, DType operands);
    const std::byte* decoded(const MatrixLayout&, DType, const std::byte*, AlignedBytes&) const;
    const std::byte* scaled(const MatrixLayout&, ScaleMode, DType, const std::byte* operand, const std::byte* scales,
                            AlignedBytes&) const;
    const std::byte* operandA(const Prepared&, const GemmBuffers&);
    const std::byte* operandB(const Prepared&, const GemmBuffers&);
    void finish(const Prepared&, const GemmBuffers&);
    void finishColumn(const Prepared&, const GemmBuffers&, std::int64_t column);
    void activateColumn(const GemmCall&, const GemmBuffers&, std::int64_t column) const;
};

GemmRunner::Impl::Prepared GemmRunner::Impl::build(const GemmCall& call, DType operands)
{
    Prepared p;
    p.call = call;
    p.operands = operands;
    p.direct = writesDirectly(call, p.operands);
    p.scaled = call.alpha != 1 || call.aScaleMode == ScaleMode::Scalar32F || call.bScaleMode == ScaleMode::Scalar32F;
    p.biasInside = plan::addsBias(call.epilogue) && call.beta == 0;

    const memory::desc source = describe(call.b, call.transB, p.operands);
    const memory::desc weights = describe(call.a, call.transA, p.operands);
    const memory::desc result = describe(call.d, false, p.direct ? call.d.type : DType::F32);
    const memory::desc scale({1, 1}, memory::data_type::f32, memory::dims{1, 1});
    const memory::desc bias({1, call.m()}, memory::data_type::f32, memory::dims{call.m(), 1});

    dnnl::post_ops after;
    if (p.scaled) {
        p.scale = memory(scale, engine);
        p.arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(after.len()) | DNNL_ARG_SRC_1, p.scale);
        after.append_binary(dnnl::algorithm::binary_mul, scale);
    }
    if (p.biasInside) {
        p.bias = memory(bias, engine);
        p.arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(after.len()) | DNNL_ARG_SRC_1, p.bias);
        after.append_binary(dnnl::algorithm::binary_add, bias);
    }
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    p.matmul = dnnl::matmul(describeMatmul(engine, source, weights, result, attributes));

    p.source = memory(source, engine, nullptr);
    p.weights = memory(weights, engine, nullptr);
    p.result = memory(result, engine, nullptr);
    p.arguments.emplace(DNNL_ARG_SRC, p.source);
    p.arguments.emplace(DNNL_ARG_WEIGHTS, p.weights);
    p.arguments.emplace(DNNL_ARG_DST, p.result);
    return p;
}

/// The operand as oneDNN wants it: itself, or decoded into scratch with the same layout.
const std::byte* GemmRunner::Impl::decoded(const MatrixLayout& layout, DType type, const std::byte* operand,
                                           AlignedBytes& scratch) const
{
    if (layout.type == type)
        return operand;
    parallelFor(storageElements(layout), kDecodeGrain, [&](std::int64_t begin, std::int64_t end) {
        const auto first = static_cast<std::size_t>(begin);
        const auto n = static_cast<std::size_t>(end - begin);
        if (layout.type == DType::Bf16)
            kernels->toF32({reinterpret_cast<const Bf16*>(operand) + first, n},
                           {reinterpret_cast<float*>(scratch.data()) + first, n});
        else if (type == DType::Bf16)
            kernels->decodeFp8ToBf16({reinterpret_cast<const Fp8*>(operand) + first, n}, layout.type,
                                     {reinterpret_cast<Bf16*>(scratch.data()) + first, n});
        else
            kernels->decodeFp8({reinterpret_cast<const Fp8*>(operand) + first, n}, layout.type, 1.0F,
                               {reinterpret_cast<float*>(scratch.data()) + first, n});
    });
    return scratch.data();
}

/// The operand decoded into scratch, each element times its factor.
const std::byte* GemmRunner::Impl::scaled(const MatrixLayout& layout, ScaleMode mode, DType type,
                                          const std::byte* operand, const std::byte* scales,
                                          AlignedBytes& scratch) const
{
    const kernels::ScaledOperand source{.q = reinterpret_cast<const Fp8*>(operand),
                                        .format = layout.type,
                                        .layout = {mode, layout.cols, layout.rows},
                                        .scales = reinterpret_cast<const std::uint8_t*>(scales)};
    const std::int64_t grain = std::max<std::int64_t>(1, kDecodeGrain / layout.rows);
    parallelFor(layout.cols, grain, [&](std::int64_t begin, std::int64_t end) {
        if (type == DType::Bf16)
            kernels->decodeScaledToBf16(source, begin, end, reinterpret_cast<Bf16*>(scratch.data()));
        else
            kernels->decodeScaled(source, begin, end, reinterpret_cast<float*>(scratch.data()));
    });
    return scratch.data();
}

const std::byte* GemmRunner::Impl::operandA(const Prepared& p, const GemmBuffers& buffers)
{
    if (hasManyScales(p.call.aScaleMode))
        return scaled(p.call.a, p.call.aScaleMode, p.operands, buffers.a, buffers.aScale, scratchA);
    return decoded(p.call.a, p.operands, buffers.a, scratchA);
}
const std::byte* GemmRunner::Impl::operandB(const Prepared& p, const GemmBuffers& buffers)
{
    if (hasManyScales(p.call.bScaleMode))
        return scaled(p.call.b, p.call.bScaleMode, p.operands, buffers.b, buffers.bScale, scratchB);
    return decoded(p.call.b, p.operands, buffers.b, scratchB);
}

/// What oneDNN has not done: D = round(result + beta * D [+ bias]) for results that it left in f32 scratch, and the
/// activation.
void GemmRunner::Impl::finish(const Prepared& p, const GemmBuffers& buffers)
{
    const bool activated = plan::activationOf(p.call.epilogue) != plan::Activation::None;
    const std::int64_t grain = std::max<std::int64_t>(1, kDecodeGrain / p.call.d.rows);
    parallelFor(p.call.d.cols, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t column = begin; column < end; ++column) {
            if (!p.direct)
                finishColumn(p, buffers, column);
            if (activated)
                activateColumn(p.call, buffers, column);
        }
    });
}

void GemmRunner::Impl::activateColumn(const GemmCall& call, const GemmBuffers& buffers, std::int64_t column) const
{
    constexpr std::int64_t kBitsOfWord = 32;
    const std::span z(reinterpret_cast<Bf16*>(buffers.d) + column * call.d.ld, static_cast<std::size_t>(call.d.rows));
    if (plan::writesAux(call.epilogue) && plan::activationOf(call.epilogue) == plan::Activation::Relu) {
        kernels->reluMask(z, z, reinterpret_cast<std::uint32_t*>(buffers.aux) + column * call.auxLd / kBitsOfWord);
        return;
    }
    if (plan::writesAux(call.epilogue))
        std::memcpy(reinterpret_cast<Bf16*>(buffers.aux) + column * call.auxLd, z.data(), z.size_bytes());
    kernels->actForward(*buffers.activation, z, z);
}

void GemmRunner::Impl::finishColumn(const Prepared& p, const GemmBuffers& buffers, std::int64_t column)
{
    const GemmCall& call = p.call;
    const auto rows = static_cast<std::size_t>(call.d.rows);
    const auto first = static_cast<std::size_t>(column * call.d.ld);
    float* const result = reinterpret_cast<float*>(scratchD.data()) + first;
    float* const asF32 = reinterpret_cast<float*>(buffers.d) + first;
    Bf16* const asBf16 = reinterpret_cast<Bf16*>(buffers.d) + first;
    const bool narrow = call.d.type == DType::Bf16;
    if (call.beta != 0) {
        for (std::size_t i = 0; i < rows; ++i)
            result[i] += call.beta * (narrow ? decodeBf16(asBf16[i]) : asF32[i]);
        if (plan::addsBias(call.epilogue))
            for (std::size_t i = 0; i < rows; ++i)
                result[i] += call.biasType == DType::Bf16 ? decodeBf16(reinterpret_cast<const Bf16*>(buffers.bias)[i])
                                                          : reinterpret_cast<const float*>(buffers.bias)[i];
    }
    if (narrow)
        kernels->encodeBf16({result, rows}, {asBf16, rows});
    else
        std::memcpy(asF32, result, rows * sizeof(float));
}

GemmRunner::GemmRunner(const kernels::CpuKernels& kernels, GemmArithmetic arithmetic)
    : m_impl(std::make_unique<Impl>(Impl{.kernels = &kernels, .arithmetic = arithmetic}))
{}
GemmRunner::~GemmRunner() = default;
GemmRunner::GemmRunner(GemmRunner&&) noexcept = default;
GemmRunner& GemmRunner::operator=(GemmRunner&&) noexcept = default;

GemmHandle GemmRunner::prepare(const GemmCall& call, ScaleValues scales)
{
    check(call);
    const auto grow = [](AlignedBytes& scratch, std::size_t bytes) {
        if (scratch.size() < bytes)
            scratch = AlignedBytes(bytes);
    };
    const DType operands = operandType(call, m_impl->arithmetic, scales);
    const ScratchBytes need = scratchFor(call, operands);
    grow(m_impl->scratchA, need.a);
    grow(m_impl->scratchB, need.b);
    grow(m_impl->scratchD, need.d);
    try {
        m_impl->prepared.push_back(m_impl->build(call, operands));
    } catch (const dnnl::error& error) {
        throw Error(fmt::format("oneDNN cannot multiply {} x {} x {}: {}", call.m(), call.n(), call.k(), error.what()),
                    "GEMM on the CPU", "check that the installed oneDNN supports this CPU");
    }
    return {m_impl->prepared.size() - 1};
}

void GemmRunner::run(GemmHandle handle, const GemmBuffers& buffers)
{
    Impl::Prepared& p = m_impl->prepared[handle.index];
    const auto mutableBytes = [](const std::byte* bytes) { return const_cast<std::byte*>(bytes); };
    p.weights.set_data_handle(mutableBytes(m_impl->operandA(p, buffers)));
    p.source.set_data_handle(mutableBytes(m_impl->operandB(p, buffers)));
    p.result.set_data_handle(p.direct ? buffers.d : m_impl->scratchD.data());
    if (p.scaled) {
        const float aScale = p.call.aScaleMode == ScaleMode::Scalar32F ? scalarAt(buffers.aScale) : 1.0F;
        const float bScale = p.call.bScaleMode == ScaleMode::Scalar32F ? scalarAt(buffers.bScale) : 1.0F;
        *static_cast<float*>(p.scale.get_data_handle()) = p.call.alpha * aScale * bScale;
    }
    if (p.biasInside) {
        const auto m = static_cast<std::size_t>(p.call.m());
        auto* const bias = static_cast<float*>(p.bias.get_data_handle());
        if (p.call.biasType == DType::Bf16)
            m_impl->kernels->toF32({reinterpret_cast<const Bf16*>(buffers.bias), m}, {bias, m});
        else
            std::memcpy(bias, buffers.bias, m * sizeof(float));
    }

    const auto begin = std::chrono::steady_clock::now();
    p.matmul.execute(m_impl->stream, p.arguments);
    m_impl->stream.wait();
    m_impl->libraryNs += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();

    if (!p.direct || plan::activationOf(p.call.epilogue) != plan::Activation::None)
        m_impl->finish(p, buffers);
}

std::int64_t GemmRunner::libraryNs() const { return m_impl->libraryNs; }

std::size_t GemmRunner::scratchBytes() const
{
    return m_impl->scratchA.size() + m_impl->scratchB.size() + m_impl->scratchD.size();
}

}  // namespace fp8scope::cpu
