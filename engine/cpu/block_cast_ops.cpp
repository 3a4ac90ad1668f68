// SPDX-License-Identifier: Apache-2.0
// Quantization with a scale for each block: amax, scale, cast and transpose in one read; and the layout of its factors.
#include "engine/cpu/op_context.h"
#include "engine/cpu/parallel_for.h"

#include <algorithm>

namespace fp8scope::cpu {

using kernels::BlockCastArgs;
using kernels::CastResult;
using plan::Op;
using plan::TensorId;

namespace {

kernels::BlockScaling scalingOf(const OpContext& ctx, const Op& op)
{
    const plan::Recipe& recipe = ctx.plan->recipe;
    return {.mode = op.scaleMode,
            .format = op.fp8Type,
            .powerOfTwo = recipe.powerOfTwo,
            .minAmax = static_cast<float>(recipe.minAmax),
            .rounding = recipe.e8m0Rounding,
            .swizzled = op.swizzledScales};
}

/// The factors' bytes, padding cleared.
std::uint8_t* clearedFactors(OpContext& ctx, TensorId id)
{
    const std::span<std::byte> bytes = ctx.arena->bytes(id);
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    return reinterpret_cast<std::uint8_t*>(bytes.data());
}

/// The scale of a block with the tensor's amax: the smallest of all.
float smallestScale(const kernels::BlockScaling& rule, float amax)
{
    if (rule.mode == ScaleMode::Vec32Ue8m0)
        return scaleOfE8m0(e8m0FromAmax(amax, rule.format, rule.rounding));
    return blockScale(amax, rule.format, rule.minAmax, rule.powerOfTwo);
}

void run(OpContext& ctx, const Op& op, BlockCastArgs args)
{
    args.x = ctx.arena->bf16(op.inputs[0]).data();
    args.scaling = scalingOf(ctx, op);
    if (op.outputs[0].valid()) {
        args.q = ctx.arena->fp8(op.outputs[0]).data();
        args.scales = clearedFactors(ctx, op.outputs[1]);
    }
    if (op.outputs[2].valid()) {
        args.qTransposed = ctx.arena->fp8(op.outputs[2]).data();
        args.scalesTransposed = clearedFactors(ctx, op.outputs[3]);
    }
    const plan::Tensor& x = ctx.tensor(op.inputs[0]);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        BlockCastArgs mine = args;
        mine.part = {.rows = x.rows, .cols = x.cols, .begin = begin, .end = end};
        return ctx.kernels->blockCast(mine);
    };
    const auto join = [](CastResult a, const CastResult& b) {
        a.amax = kernels::maxAmax(a.amax, b.amax);
        a.counts += b.counts;
        return a;
    };
    const CastResult result = parallelReduce(x.rows, kernels::kScaleBlock, CastResult{}, part, join);
    noteBlockQuantization(ctx, op, result, smallestScale(args.scaling, result.amax));
}

}  // namespace

void blockCast(OpContext& ctx, const Op& op)
{
    const bool dbias = op.outputs.size() > 4;
    run(ctx, op, {.columnPartials = dbias ? ctx.columnPartials.data() : nullptr});
    if (dbias) {
        const plan::Tensor& x = ctx.tensor(op.inputs[0]);
        reduceColumnPartials(ctx, x.rows, x.cols, op.outputs[4], op.accumulate);
    }
}

void activationBlockCast(OpContext& ctx, const Op& op) { run(ctx, op, {.activation = &ctx.activation}); }

void scaleLayout(OpContext& ctx, const Op& op)
{
    const plan::Tensor& rows = ctx.tensor(op.inputs[0]);
    const std::span<const std::uint8_t> from = ctx.arena->e8m0(op.inputs[0]);
    std::uint8_t* const to = clearedFactors(ctx, op.outputs[0]);
    const ScaleLayout wanted{op.scaleMode, rows.rows, rows.cols * ScaleLayout{op.scaleMode}.innerBlock()};
    for (std::int64_t row = 0; row < rows.rows; ++row)
        for (std::int64_t block = 0; block < rows.cols; ++block)
            to[wanted.index(row, block)] = from[static_cast<std::size_t>(row * rows.cols + block)];
}

}  // namespace fp8scope::cpu
