// SPDX-License-Identifier: Apache-2.0
// Ops on single numbers: the eager scale arithmetic, one launch each on a GPU, and the bulk update of delayed scaling.
#include "engine/cpu/op_context.h"
#include "engine/numerics/scaling.h"

namespace fp8scope::cpu {

using plan::Op;

void scalarToF64(OpContext& ctx, const Op& op) { ctx.arena->setScalar(op.outputs[0], ctx.arena->scalar(op.inputs[0])); }

void scalarClampMin(OpContext& ctx, const Op& op)
{
    const double value = ctx.arena->scalar(op.inputs[0]);
    ctx.arena->setScalar(op.outputs[0], value < op.constant ? op.constant : value);  // NaN stays, as torch.clamp
}

void scalarReciprocal(OpContext& ctx, const Op& op)
{
    const plan::TensorId in = op.inputs[0], out = op.outputs[0];
    if (ctx.tensor(in).type == DType::F64)
        ctx.arena->setScalar(out, 1.0 / ctx.arena->f64(in)[0]);
    else
        ctx.arena->setScalar(out, inverseScale(ctx.arena->f32(in)[0]));
}

void scalarMul(OpContext& ctx, const Op& op)
{
    ctx.arena->setScalar(op.outputs[0], ctx.arena->scalar(op.inputs[0]) * op.constant);
}

void scalarToF32(OpContext& ctx, const Op& op) { ctx.arena->setScalar(op.outputs[0], ctx.arena->scalar(op.inputs[0])); }

void scaleFromAmax(OpContext& ctx, const Op& op)
{
    const float scale = tensorwiseScale(ctx.arena->f32(op.inputs[0])[0], op.fp8Type, op.constant);
    ctx.arena->f32(op.outputs[0])[0] = scale;
    if (op.outputs.size() > 1 && op.outputs[1].valid())
        ctx.arena->f32(op.outputs[1])[0] = inverseScale(scale);
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
