// SPDX-License-Identifier: Apache-2.0
// The optimizer's update of one layer: fp32 masters and states, weights rounded from the masters.
#include "engine/cpu/op_context.h"
#include "engine/cpu/parallel_for.h"

#include <algorithm>
#include <span>
#include <utility>

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

/// The statistics of a cast for the next step.
void noteAhead(OpContext& ctx, const Op& op, const CastCounts& counts)
{
    const auto index = static_cast<std::size_t>(op.quantized);
    const QuantizationStat ofThisStep = ctx.quantized[index];
    noteQuantization(ctx, op, counts);
    ctx.castAhead.emplace_back(index, std::exchange(ctx.quantized[index], ofThisStep));
}

/// Updates of one step: which optimizer, with what constants.
struct Update {
    bool sgd = false;
    kernels::SgdSettings sgdSettings;
    kernels::AdamSettings adamSettings;

    Update(const plan::OptimizerConfig& o, std::int64_t step)
        : sgd(o.kind == plan::OptimizerKind::Sgd), sgdSettings{static_cast<float>(o.learningRate),
                                                               static_cast<float>(o.momentum)},
          adamSettings(kernels::adamSettings(o.learningRate, o.beta1, o.beta2, o.epsilon, step))
    {}

    void apply(const kernels::CpuKernels& kernels, const kernels::ParameterSlice& part) const
    {
        if (sgd)
            kernels.sgd(part, sgdSettings);
        else
            kernels.adam(part, adamSettings);
    }
};

void update(OpContext& ctx, const kernels::ParameterSlice& parameter, const Update& how)
{
    parallelFor(static_cast<std::int64_t>(parameter.n), kElementGrain,
                [&](std::int64_t begin, std::int64_t end) { how.apply(*ctx.kernels, slice(parameter, begin, end)); });
}

std::size_t tensorsOfParameter(const OpContext& ctx)
{
    return ctx.plan->config.optimizer.kind == plan::OptimizerKind::Adam ? 4 : 3;
}

/// Raises the layer's count of steps, which stands after its parameters.
Update beginUpdate(OpContext& ctx, const Op& op)
{
    float& stepsDone = ctx.arena->f32(op.outputs[op.inputs.size() * tensorsOfParameter(ctx)])[0];
    stepsDone += 1;
    return {ctx.plan->config.optimizer, static_cast<std::int64_t>(stepsDone)};
}

kernels::ParameterSlice parameter(OpContext& ctx, const Op& op, std::size_t index)
{
    const std::size_t each = tensorsOfParameter(ctx);
    return wholeParameter(ctx, std::span(op.outputs).subspan(index * each, each), op.inputs[index]);
}

/// Rows of a weight that are updated before they are cast: they are then still in the cache.
constexpr std::int64_t kRowsTogether = 4 * kernels::kRowBlock;

/// The weight's fp8 tensor, its transpose and amax; `before(rows)` is called before some rows are cast.
template <typename Before>
void castWeight(OpContext& ctx, const Op& op, const Before& before)
{
    const TensorId* const made = &op.outputs[op.outputs.size() - 3];  // q, [q^T], amax
    const plan::Tensor& shape = ctx.tensor(op.outputs[0]);
    kernels::CastTransposeArgs args;
    args.x = ctx.arena->bf16(op.outputs[0]).data();
    args.scale = ctx.arena->f32(ctx.plan->quantized[static_cast<std::size_t>(op.quantized)].scale)[0];
    args.format = op.fp8Type;
    args.q = ctx.arena->fp8(made[0]).data();
    args.qTransposed = made[1].valid() ? ctx.arena->fp8(made[1]).data() : nullptr;
    const auto castRows = [&](const kernels::RowRange& rows) {
        if (args.qTransposed == nullptr) {
            const auto first = static_cast<std::size_t>(rows.begin * rows.cols);
            const auto n = static_cast<std::size_t>((rows.end - rows.begin) * rows.cols);
            return ctx.kernels->cast({args.x + first, n}, args.scale, args.format, {args.q + first, n});
        }
        kernels::CastTransposeArgs part = args;
        part.part = rows;
        return ctx.kernels->castTranspose(part);
    };
    const auto join = [](kernels::CastResult a, const kernels::CastResult& b) {
        a.amax = kernels::maxAmax(a.amax, b.amax);
        a.counts += b.counts;
        return a;
    };
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        kernels::CastResult result;
        kernels::RowRange rows{.rows = shape.rows, .cols = shape.cols, .begin = begin, .end = begin};
        for (; rows.begin < end; rows.begin = rows.end) {
            rows.end = std::min(rows.begin + kRowsTogether, end);
            before(rows);
            result = join(result, castRows(rows));
        }
        return result;
    };
    const kernels::CastResult result =
        parallelReduce(shape.rows, kernels::kRowBlock, kernels::CastResult{}, part, join);
    storeAmax(ctx, made[2], result.amax);
    noteAhead(ctx, op, result.counts);
}

}  // namespace

void optimizerStep(OpContext& ctx, const Op& op)
{
    const Update how = beginUpdate(ctx, op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
        update(ctx, parameter(ctx, op, i), how);
}

void optimizerCast(OpContext& ctx, const Op& op)
{
    const Update how = beginUpdate(ctx, op);
    const kernels::ParameterSlice weight = parameter(ctx, op, 0);
    castWeight(ctx, op, [&](const kernels::RowRange& rows) {
        how.apply(*ctx.kernels, slice(weight, rows.begin * rows.cols, rows.end * rows.cols));
    });
    for (std::size_t i = 1; i < op.inputs.size(); ++i)
        update(ctx, parameter(ctx, op, i), how);
}

void castInitialWeights(OpContext& ctx)
{
    for (const Op& op : ctx.plan->ops)
        if (op.kind == plan::OpKind::OptimizerCast)
            castWeight(ctx, op, [](const kernels::RowRange&) {});
}

}  // namespace fp8scope::cpu
