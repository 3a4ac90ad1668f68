// SPDX-License-Identifier: Apache-2.0
// The ops of training that both precisions share: batch, GEMM, bias, activation, loss.
#include "engine/cpu/granularity.h"
#include "engine/cpu/parallel_for.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace fp8scope::cpu {

using plan::Op;

namespace {

void copyInto(std::span<const std::byte> from, std::span<std::byte> to)
{
    parallelFor(static_cast<std::int64_t>(from.size()), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
    });
}

}  // namespace

void loadBatch(OpContext& ctx, const Op& op)
{
    const Batch batch = ctx.dataset->batch(ctx.step, op.microBatch);
    copyInto(batch.input, ctx.arena->bytes(op.outputs[0]));
    copyInto(batch.target, ctx.arena->bytes(op.outputs[1]));
}

void gemm(OpContext& ctx, const Op& op)
{
    const plan::GemmCall& call = *op.gemm;
    const auto optional = [&](plan::TensorId id) { return id.valid() ? ctx.arena->bytes(id).data() : nullptr; };
    const GemmBuffers buffers{
        .a = ctx.arena->bytes(call.aTensor).data(),
        .b = ctx.arena->bytes(call.bTensor).data(),
        .d = ctx.arena->bytes(call.dTensor).data(),
        .aScale = optional(call.aScale),
        .bScale = optional(call.bScale),
        .bias = optional(call.bias),
        .aux = call.aux.valid() ? ctx.arena->bytes(call.aux).data() : nullptr,
        .activation = &ctx.activation,
    };
    ctx.gemms->run(ctx.gemmOfOp[static_cast<std::size_t>(&op - ctx.plan->ops.data())], buffers);
}

void biasAdd(OpContext& ctx, const Op& op)
{
    const plan::Tensor& y = ctx.tensor(op.outputs[0]);
    const auto values = ctx.arena->bf16(op.outputs[0]), bias = ctx.arena->bf16(op.inputs[1]);
    parallelFor(y.rows, rowGrain(y.cols), [&](std::int64_t begin, std::int64_t end) {
        ctx.kernels->biasAdd(bias, values.subspan(static_cast<std::size_t>(begin * y.cols),
                                                  static_cast<std::size_t>((end - begin) * y.cols)));
    });
}

void reduceColumnPartials(OpContext& ctx, std::int64_t rows, std::int64_t cols, plan::TensorId to, bool accumulate)
{
    const std::span<float> sums = ctx.arena->f32(to);
    float* const out = accumulate ? ctx.columnSums.data() : sums.data();
    ctx.kernels->reduceColumns(ctx.columnPartials.data(), rows, cols, 0, cols, out);
    for (std::size_t c = 0; accumulate && c < sums.size(); ++c)
        sums[c] += out[c];
}

void biasGrad(OpContext& ctx, const Op& op)
{
    const plan::Tensor& dy = ctx.tensor(op.inputs[0]);
    const kernels::Bf16* const values = ctx.arena->bf16(op.inputs[0]).data();
    parallelFor(dy.rows, kernels::kRowBlock, [&](std::int64_t begin, std::int64_t end) {
        const kernels::RowRange part{.rows = dy.rows, .cols = dy.cols, .begin = begin, .end = end};
        ctx.kernels->biasGrad(values, part, ctx.columnPartials.data());
    });
    reduceColumnPartials(ctx, dy.rows, dy.cols, op.outputs[0], op.accumulate);
}

void activationForward(OpContext& ctx, const Op& op)
{
    const auto z = ctx.arena->bf16(op.inputs[0]), a = ctx.arena->bf16(op.outputs[0]);
    parallelFor(static_cast<std::int64_t>(z.size()), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
        const auto i = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
        ctx.kernels->actForward(ctx.activation, z.subspan(i, n), a.subspan(i, n));
    });
}

void loss(OpContext& ctx, const Op& op)
{
    const plan::Tensor& shape = ctx.tensor(op.inputs[0]);
    const plan::TensorId target = op.inputs[1];
    const bool classes = ctx.plan->config.loss == plan::Loss::SoftmaxCrossEntropy;
    const auto y = ctx.arena->bf16(op.inputs[0]), dy = ctx.arena->bf16(op.outputs[0]);
    const std::span<double> rowLoss(ctx.rowLoss);
    const auto terms = static_cast<double>((classes ? shape.rows : shape.elements()) * ctx.plan->config.microBatches);
    const auto gradScale = static_cast<float>((classes ? 1.0 : 2.0) / terms);
    parallelFor(shape.rows, rowGrain(shape.cols), [&](std::int64_t begin, std::int64_t end) {
        const auto row = static_cast<std::size_t>(begin), rows = static_cast<std::size_t>(end - begin);
        const auto first = row * static_cast<std::size_t>(shape.cols), n = rows * static_cast<std::size_t>(shape.cols);
        const auto mine = rowLoss.subspan(row, rows);
        if (classes)
            ctx.kernels->softmaxCrossEntropy(y.subspan(first, n), ctx.arena->i32(target).subspan(row, rows), shape.cols,
                                             gradScale, dy.subspan(first, n), mine);
        else
            ctx.kernels->squaredError(y.subspan(first, n), ctx.arena->f32(target).subspan(first, n), shape.cols,
                                      gradScale, dy.subspan(first, n), mine);
    });
    const double sum = std::accumulate(rowLoss.begin(), rowLoss.begin() + shape.rows, 0.0);  // in order of rows
    float& loss = ctx.arena->f32(op.outputs[1])[0];
    loss = static_cast<float>(sum / terms) + (op.accumulate ? loss : 0.0F);
}

}  // namespace fp8scope::cpu
