// SPDX-License-Identifier: Apache-2.0
// Quantization with one scale and fewer passes over memory: cast, transpose, and the kernels that do several of them in
// one read.
#include "engine/cpu/op_context.h"
#include "engine/cpu/parallel_for.h"

#include <algorithm>

namespace fp8scope::cpu {

using kernels::CastResult;
using plan::Op;

namespace {

CastResult join(CastResult a, const CastResult& b)
{
    a.amax = kernels::maxAmax(a.amax, b.amax);
    a.counts += b.counts;
    return a;
}

kernels::RowRange rowRange(const plan::Tensor& tensor, std::int64_t begin, std::int64_t end)
{
    return {.rows = tensor.rows, .cols = tensor.cols, .begin = begin, .end = end};
}

/// The transpose has scales of its own: those of the columns.
bool scalesTransposeApart(const Op& op) { return op.inputs.size() > 2; }

/// The operands of a kernel that reads x once and writes q, its transpose and perhaps column sums.
kernels::CastTransposeArgs castTransposeArgs(OpContext& ctx, const Op& op)
{
    kernels::CastTransposeArgs args;
    args.x = ctx.arena->bf16(op.inputs[0]).data();
    args.scale = ctx.arena->f32(op.inputs[1])[0];
    args.format = op.fp8Type;
    args.q = ctx.arena->fp8(op.outputs[0]).data();
    args.qTransposed = ctx.arena->fp8(op.outputs[1]).data();
    return args;
}

/// Runs `kernel(args)` over the rows of the op's first input in parallel; writes the amax where the op has one.
template <typename Kernel>
void runCastTranspose(OpContext& ctx, const Op& op, const kernels::CastTransposeArgs& args, const Kernel& kernel)
{
    const plan::Tensor& x = ctx.tensor(op.inputs[0]);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        kernels::CastTransposeArgs mine = args;
        mine.part = rowRange(x, begin, end);
        return kernel(mine);
    };
    const CastResult result = parallelReduce(x.rows, kernels::kRowBlock, CastResult{}, part, join);
    if (op.outputs[2].valid())
        storeAmax(ctx, op.outputs[2], result.amax);
    noteQuantization(ctx, op, result.counts);
}

}  // namespace

void storeAmax(OpContext& ctx, plan::TensorId id, float amax)
{
    float& stored = ctx.arena->f32(id)[0];
    stored = ctx.tensor(id).persistent ? kernels::maxAmax(stored, amax) : amax;
}

void cast(OpContext& ctx, const Op& op)
{
    if (ctx.tensor(op.inputs[1]).elements() > 1) {
        castRows(ctx, op);
        return;
    }
    const auto x = ctx.arena->bf16(op.inputs[0]);
    const float scale = ctx.arena->f32(op.inputs[1])[0];
    const auto q = ctx.arena->fp8(op.outputs[0]);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        const auto i = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
        return ctx.kernels->cast(x.subspan(i, n), scale, op.fp8Type, q.subspan(i, n));
    };
    noteQuantization(
        ctx, op, parallelReduce(static_cast<std::int64_t>(x.size()), kElementGrain, CastResult{}, part, join).counts);
}

void transpose(OpContext& ctx, const Op& op)
{
    const plan::Tensor& q = ctx.tensor(op.inputs[0]);
    const kernels::Fp8* const from = ctx.arena->fp8(op.inputs[0]).data();
    kernels::Fp8* const to = ctx.arena->fp8(op.outputs[0]).data();
    parallelFor(q.rows, kernels::kRowBlock, [&](std::int64_t begin, std::int64_t end) {
        ctx.kernels->transpose(from, rowRange(q, begin, end), to);
    });
}

void castTranspose(OpContext& ctx, const Op& op)
{
    if (scalesTransposeApart(op))
        castBothWays(ctx, op, nullptr);
    else
        runCastTranspose(ctx, op, castTransposeArgs(ctx, op), ctx.kernels->castTranspose);
}

void castTransposeDbias(OpContext& ctx, const Op& op)
{
    const plan::Tensor& x = ctx.tensor(op.inputs[0]);
    if (scalesTransposeApart(op)) {
        castBothWays(ctx, op, ctx.columnPartials.data());
    } else {
        kernels::CastTransposeArgs args = castTransposeArgs(ctx, op);
        args.columnPartials = ctx.columnPartials.data();
        runCastTranspose(ctx, op, args, ctx.kernels->castTranspose);
    }
    reduceColumnPartials(ctx, x.rows, x.cols, op.outputs[3], op.accumulate);
}

void activationCastTranspose(OpContext& ctx, const Op& op)
{
    runCastTranspose(ctx, op, castTransposeArgs(ctx, op), [&](const kernels::CastTransposeArgs& args) {
        return ctx.kernels->actCastTranspose(ctx.activation, args);
    });
}

}  // namespace fp8scope::cpu
