// SPDX-License-Identifier: Apache-2.0
// The ops that find amaxes: of a tensor, of its rows, of its columns, or of several of them in one pass.
#include "engine/cpu/granularity.h"
#include "engine/cpu/parallel_for.h"

#include <algorithm>

namespace fp8scope::cpu {

using kernels::Bf16;
using plan::Op;
using plan::TensorId;

namespace {

/// Where a pass over a matrix leaves its amaxes; null or none(): not asked for.
struct WantedAmaxes {
    TensorId whole;
    float* rows = nullptr;
    TensorId columns;
};

WantedAmaxes wantedAmaxes(OpContext& ctx, const plan::Tensor& matrix, std::span<const TensorId> ids)
{
    WantedAmaxes wanted;
    for (const TensorId id : ids) {
        switch (granularityOf(matrix, ctx.tensor(id))) {
        case Granularity::Tensor: wanted.whole = id; break;
        case Granularity::Row: wanted.rows = ctx.arena->f32(id).data(); break;
        case Granularity::Column: wanted.columns = id; break;
        }
    }
    return wanted;
}

/// What a part of the rows gives to the amaxes that all rows share.
struct PartAmaxes {
    float whole = 0;
    std::vector<Bf16> columns;  ///< magnitudes; empty when not asked for
};

PartAmaxes join(PartAmaxes a, const PartAmaxes& b)
{
    a.whole = kernels::maxAmax(a.whole, b.whole);
    std::transform(a.columns.begin(), a.columns.end(), b.columns.begin(), a.columns.begin(),
                   [](Bf16 m, Bf16 n) { return std::max(m, n); });
    return a;
}

/// Calls amaxOfRow(row), which may write that row of `matrix` first, once for each row, and stores the amaxes asked
/// for.
template <typename AmaxOfRow>
void findAmaxes(OpContext& ctx, TensorId matrix, std::span<const TensorId> ids, const AmaxOfRow& amaxOfRow)
{
    const plan::Tensor& shape = ctx.tensor(matrix);
    const WantedAmaxes wanted = wantedAmaxes(ctx, shape, ids);
    const Bf16* const x = ctx.arena->bf16(matrix).data();
    const PartAmaxes none{.whole = 0,
                          .columns = std::vector<Bf16>(
                              wanted.columns.valid() ? static_cast<std::size_t>(shape.cols) : std::size_t{0}, 0)};
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        PartAmaxes found = none;
        for (std::int64_t block = begin; block < end; block += kernels::kRowBlock) {
            const std::int64_t last = std::min(end, block + kernels::kRowBlock);
            for (std::int64_t row = block; row < last; ++row) {
                const float amax = amaxOfRow(static_cast<std::size_t>(row));
                found.whole = kernels::maxAmax(found.whole, amax);
                if (wanted.rows != nullptr)
                    wanted.rows[row] = amax;
            }
            if (wanted.columns.valid())
                ctx.kernels->columnAmax(x, {.rows = shape.rows, .cols = shape.cols, .begin = block, .end = last},
                                        found.columns);
        }
        return found;
    };
    const PartAmaxes found = parallelReduce(shape.rows, kernels::kRowBlock, none, part, join);
    if (wanted.whole.valid())
        storeAmax(ctx, wanted.whole, found.whole);
    if (wanted.columns.valid())
        std::transform(found.columns.begin(), found.columns.end(), ctx.arena->f32(wanted.columns).begin(), decodeBf16);
}

}  // namespace

void amax(OpContext& ctx, const Op& op)
{
    const auto x = ctx.arena->bf16(op.inputs[0]);
    const auto cols = static_cast<std::size_t>(ctx.tensor(op.inputs[0]).cols);
    findAmaxes(ctx, op.inputs[0], op.outputs,
               [&](std::size_t row) { return ctx.kernels->amax(x.subspan(row * cols, cols)); });
}

void maxReduce(OpContext& ctx, const Op& op)
{
    const auto x = ctx.arena->bf16(op.inputs[0]);
    const auto cols = static_cast<std::size_t>(ctx.tensor(op.inputs[0]).cols);
    findAmaxes(ctx, op.inputs[0], op.outputs,
               [&](std::size_t row) { return ctx.kernels->maxReduce(x.subspan(row * cols, cols)); });
}

void activationAmax(OpContext& ctx, const Op& op)
{
    const auto z = ctx.arena->bf16(op.inputs[0]), a = ctx.arena->bf16(op.outputs[0]);
    const auto cols = static_cast<std::size_t>(ctx.tensor(op.inputs[0]).cols);
    findAmaxes(ctx, op.outputs[0], std::span(op.outputs).subspan(1), [&](std::size_t row) {
        return ctx.kernels->actAmax(ctx.activation, z.subspan(row * cols, cols), a.subspan(row * cols, cols));
    });
}

}  // namespace fp8scope::cpu
