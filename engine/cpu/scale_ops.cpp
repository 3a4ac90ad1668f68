// SPDX-License-Identifier: Apache-2.0
// Ops on single numbers, or one for each row or column: the eager scale arithmetic, one launch each on a GPU, and the
// bulk update of delayed scaling.
#include "engine/cpu/op_context.h"
#include "engine/numerics/scaling.h"

#include <cmath>

namespace fp8scope::cpu {

using plan::Op;

namespace {

/// Each number of the op's input through f, in double; rounded to the output's type.
template <typename F>
void forNumbers(OpContext& ctx, const Op& op, const F& f)
{
    const plan::TensorId in = op.inputs[0], out = op.outputs[0];
    const bool wideIn = ctx.tensor(in).type == DType::F64, wideOut = ctx.tensor(out).type == DType::F64;
    const auto n = static_cast<std::size_t>(ctx.tensor(in).elements());
    for (std::size_t i = 0; i < n; ++i) {
        const double result = f(wideIn ? ctx.arena->f64(in)[i] : double{ctx.arena->f32(in)[i]});
        if (wideOut)
            ctx.arena->f64(out)[i] = result;
        else
            ctx.arena->f32(out)[i] = static_cast<float>(result);
    }
}

}  // namespace

void scalarToF64(OpContext& ctx, const Op& op)
{
    forNumbers(ctx, op, [](double v) { return v; });
}

void scalarClampMin(OpContext& ctx, const Op& op)
{
    forNumbers(ctx, op, [&](double v) { return v < op.constant ? op.constant : v; });  // NaN stays, as torch.clamp
}

void scalarReciprocal(OpContext& ctx, const Op& op)
{
    if (ctx.tensor(op.inputs[0]).type == DType::F64)
        forNumbers(ctx, op, [](double v) { return 1.0 / v; });
    else
        forNumbers(ctx, op, [](double v) { return inverseScale(static_cast<float>(v)); });
}

void scalarMul(OpContext& ctx, const Op& op)
{
    forNumbers(ctx, op, [&](double v) { return v * op.constant; });
}

void scalarToF32(OpContext& ctx, const Op& op) { scalarToF64(ctx, op); }

// In f32, as torch computes them.
void scalarLog2(OpContext& ctx, const Op& op)
{
    forNumbers(ctx, op, [](double v) { return std::log2(static_cast<float>(v)); });
}
void scalarFloor(OpContext& ctx, const Op& op)
{
    forNumbers(ctx, op, [](double v) { return std::floor(static_cast<float>(v)); });
}
void scalarExp2(OpContext& ctx, const Op& op)
{
    forNumbers(ctx, op, [](double v) { return std::exp2(static_cast<float>(v)); });
}

void scaleFromAmax(OpContext& ctx, const Op& op)
{
    const bool rounded = ctx.plan->recipe.powerOfTwo;
    for (std::size_t set = 0; set < op.inputs.size(); ++set) {
        const std::span<const float> amax = ctx.arena->f32(op.inputs[set]);
        const std::span<float> scale = ctx.arena->f32(op.outputs[2 * set]);
        const bool inverse = op.outputs.size() > 2 * set + 1 && op.outputs[2 * set + 1].valid();
        const std::span<float> scaleInv = inverse ? ctx.arena->f32(op.outputs[2 * set + 1]) : std::span<float>();
        for (std::size_t i = 0; i < amax.size(); ++i) {
            const float exact = tensorwiseScale(amax[i], op.fp8Type, op.constant);
            scale[i] = rounded ? powerOfTwoScale(exact) : exact;
            if (inverse)
                scaleInv[i] = inverseScale(scale[i]);
        }
    }
}

void delayedScaleUpdate(OpContext& ctx, const Op& op)
{
    const std::span<float> staging = ctx.arena->f32(op.inputs[0]);
    const std::span<float> history = ctx.arena->f32(op.inputs[1]);
    const std::span<float> scales = ctx.arena->f32(op.outputs[0]);
    const std::span<float> scaleInvs = ctx.arena->f32(op.outputs[1]);
    const auto length = static_cast<std::size_t>(ctx.tensor(op.inputs[1]).cols);
    DelayedScaling rule{.margin = ctx.plan->recipe.margin, .algorithm = ctx.plan->recipe.amaxAlgorithm};
    for (std::size_t t = 0; t < staging.size(); ++t) {
        rule.format = ctx.plan->quantized[t].format;
        scales[t] = rollDelayedHistory(staging[t], history.subspan(t * length, length), scales[t], rule);
        scaleInvs[t] = inverseScale(scales[t]);
        staging[t] = 0;
    }
}

}  // namespace fp8scope::cpu
