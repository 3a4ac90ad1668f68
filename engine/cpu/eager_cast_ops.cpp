// SPDX-License-Identifier: Apache-2.0
// Quantization as eager PyTorch runs it: abs, max, to f32, times scale, clamp, to fp8, each a pass over memory of its
// own. (The amax: amax_ops.cpp; the product: row_scale_ops.cpp.)
#include "engine/cpu/op_context.h"
#include "engine/cpu/parallel_for.h"

namespace fp8scope::cpu {

using plan::Op;

namespace {

/// Calls body(first, n) on parts of the op's first input, an element range each.
template <typename Body>
void forElements(OpContext& ctx, const Op& op, const Body& body)
{
    parallelFor(ctx.tensor(op.inputs[0]).elements(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
        body(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    });
}

CastCounts addCounts(CastCounts a, const CastCounts& b) { return a += b; }

}  // namespace

void absolute(OpContext& ctx, const Op& op)
{
    const auto x = ctx.arena->bf16(op.inputs[0]), y = ctx.arena->bf16(op.outputs[0]);
    forElements(ctx, op, [&](std::size_t i, std::size_t n) { ctx.kernels->abs(x.subspan(i, n), y.subspan(i, n)); });
}

void toF32(OpContext& ctx, const Op& op)
{
    const auto x = ctx.arena->bf16(op.inputs[0]);
    const auto y = ctx.arena->f32(op.outputs[0]);
    forElements(ctx, op, [&](std::size_t i, std::size_t n) { ctx.kernels->toF32(x.subspan(i, n), y.subspan(i, n)); });
}

void clamp(OpContext& ctx, const Op& op)
{
    const auto x = ctx.arena->f32(op.inputs[0]), y = ctx.arena->f32(op.outputs[0]);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        const auto i = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
        const auto limit = static_cast<float>(op.constant);
        return CastCounts{.saturated = ctx.kernels->clamp(x.subspan(i, n), limit, y.subspan(i, n))};
    };
    noteQuantization(ctx, op,
                     parallelReduce(static_cast<std::int64_t>(x.size()), kElementGrain, CastCounts{}, part, addCounts));
}

void toFp8(OpContext& ctx, const Op& op)
{
    const auto x = ctx.arena->f32(op.inputs[0]);
    const auto q = ctx.arena->fp8(op.outputs[0]);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        const auto i = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
        return ctx.kernels->toFp8(x.subspan(i, n), op.fp8Type, q.subspan(i, n));
    };
    noteQuantization(ctx, op,
                     parallelReduce(static_cast<std::int64_t>(x.size()), kElementGrain, CastCounts{}, part, addCounts));
}

}  // namespace fp8scope::cpu
