// SPDX-License-Identifier: Apache-2.0
// Undoing an activation, alone or with what quantizes its result.
#include "engine/cpu/op_context.h"
#include "engine/cpu/parallel_for.h"

namespace fp8scope::cpu {

using kernels::CastResult;
using plan::Op;

namespace {

/// Reads da, and z or relu's mask.
kernels::ActBackwardArgs backwardArgs(OpContext& ctx, const Op& op)
{
    kernels::ActBackwardArgs args;
    args.da = ctx.arena->bf16(op.inputs[0]).data();
    const plan::Tensor& kept = ctx.tensor(op.inputs[1]);
    if (kept.type == DType::I32) {
        args.mask = reinterpret_cast<const std::uint32_t*>(ctx.arena->bytes(op.inputs[1]).data());
        args.maskWords = static_cast<std::size_t>(kept.cols);
    } else {
        args.z = ctx.arena->bf16(op.inputs[1]).data();
    }
    return args;
}

CastResult run(OpContext& ctx, const Op& op, const kernels::ActBackwardArgs& args)
{
    const plan::Tensor& da = ctx.tensor(op.inputs[0]);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        kernels::ActBackwardArgs mine = args;
        mine.part = {.rows = da.rows, .cols = da.cols, .begin = begin, .end = end};
        return ctx.kernels->actBackwardCast(ctx.activation, mine);
    };
    const auto join = [](CastResult a, const CastResult& b) {
        a.amax = kernels::maxAmax(a.amax, b.amax);
        a.counts += b.counts;
        return a;
    };
    return parallelReduce(da.rows, kernels::kRowBlock, CastResult{}, part, join);
}

void finishBiasGrad(OpContext& ctx, const Op& op, plan::TensorId db)
{
    if (!db.valid())
        return;
    const plan::Tensor& da = ctx.tensor(op.inputs[0]);
    reduceColumnPartials(ctx, da.rows, da.cols, db, op.accumulate);
}

}  // namespace

void activationBackward(OpContext& ctx, const Op& op)
{
    kernels::ActBackwardArgs args = backwardArgs(ctx, op);
    if (args.mask == nullptr) {
        const auto da = ctx.arena->bf16(op.inputs[0]), z = ctx.arena->bf16(op.inputs[1]),
                   dz = ctx.arena->bf16(op.outputs[0]);
        parallelFor(static_cast<std::int64_t>(z.size()), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
            const auto i = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
            ctx.kernels->actBackward(ctx.activation, da.subspan(i, n), z.subspan(i, n), dz.subspan(i, n));
        });
        return;
    }
    args.dz = ctx.arena->bf16(op.outputs[0]).data();
    run(ctx, op, args);
}

void activationBackwardAmax(OpContext& ctx, const Op& op)
{
    kernels::ActBackwardArgs args = backwardArgs(ctx, op);
    args.dz = ctx.arena->bf16(op.outputs[0]).data();
    args.columnPartials = op.outputs[2].valid() ? ctx.columnPartials.data() : nullptr;
    storeAmax(ctx, op.outputs[1], run(ctx, op, args).amax);
    finishBiasGrad(ctx, op, op.outputs[2]);
}

void activationBackwardCastTranspose(OpContext& ctx, const Op& op)
{
    kernels::ActBackwardArgs args = backwardArgs(ctx, op);
    args.scale = ctx.arena->f32(op.inputs[2])[0];
    args.format = op.fp8Type;
    args.q = ctx.arena->fp8(op.outputs[0]).data();
    args.qTransposed = ctx.arena->fp8(op.outputs[1]).data();
    args.columnPartials = op.outputs[3].valid() ? ctx.columnPartials.data() : nullptr;
    const CastResult result = run(ctx, op, args);
    if (op.outputs[2].valid())
        storeAmax(ctx, op.outputs[2], result.amax);
    noteQuantization(ctx, op, result.counts);
    finishBiasGrad(ctx, op, op.outputs[3]);
}

}  // namespace fp8scope::cpu
