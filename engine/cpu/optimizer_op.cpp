// SPDX-License-Identifier: Apache-2.0
// The optimizer's update of one layer: fp32 masters and states, weights rounded from the masters.
#include "engine/cpu/op_context.h"
#include "engine/cpu/parallel_for.h"

namespace fp8scope::cpu {

using plan::Op;
using plan::TensorId;

namespace {

/// The tensors of one parameter, as they stand in an OptimizerStep's outputs: weight, master, states.
kernels::ParameterSlice wholeParameter(OpContext& ctx, std::span<const TensorId> tensors, TensorId gradient)
{
    kernels::ParameterSlice p;
    p.weight = ctx.arena->bf16(tensors[0]).data();
    p.n = ctx.arena->bf16(tensors[0]).size();
    p.master = ctx.arena->f32(tensors[1]).data();
    p.momentum = ctx.arena->f32(tensors[2]).data();
    p.variance = tensors.size() > 3 ? ctx.arena->f32(tensors[3]).data() : nullptr;
    if (ctx.tensor(gradient).type == DType::Bf16)
        p.gradBf16 = ctx.arena->bf16(gradient).data();
    else
        p.gradF32 = ctx.arena->f32(gradient).data();
    return p;
}

kernels::ParameterSlice slice(kernels::ParameterSlice p, std::int64_t begin, std::int64_t end)
{
    const auto advance = [begin](auto*& pointer) {
        if (pointer != nullptr)
            pointer += begin;
    };
    advance(p.gradBf16);
    advance(p.gradF32);
    advance(p.master);
    advance(p.weight);
    advance(p.momentum);
    advance(p.variance);
    p.n = static_cast<std::size_t>(end - begin);
    return p;
}

void update(OpContext& ctx, const kernels::ParameterSlice& parameter, std::int64_t step)
{
    const plan::OptimizerConfig& o = ctx.plan->config.optimizer;
    const kernels::SgdSettings sgd{static_cast<float>(o.learningRate), static_cast<float>(o.momentum)};
    const kernels::AdamSettings adam = kernels::adamSettings(o.learningRate, o.beta1, o.beta2, o.epsilon, step);
    parallelFor(static_cast<std::int64_t>(parameter.n), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
        if (o.kind == plan::OptimizerKind::Sgd)
            ctx.kernels->sgd(slice(parameter, begin, end), sgd);
        else
            ctx.kernels->adam(slice(parameter, begin, end), adam);
    });
}

}  // namespace

void optimizerStep(OpContext& ctx, const Op& op)
{
    const std::size_t tensorsEach = ctx.plan->config.optimizer.kind == plan::OptimizerKind::Adam ? 4 : 3;
    const std::span<const TensorId> outputs(op.outputs);
    float& stepsDone = ctx.arena->f32(outputs.back())[0];
    stepsDone += 1;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const auto tensors = outputs.subspan(i * tensorsEach, tensorsEach);
        update(ctx, wholeParameter(ctx, tensors, op.inputs[i]), static_cast<std::int64_t>(stepsDone));
    }
}

}  // namespace fp8scope::cpu
