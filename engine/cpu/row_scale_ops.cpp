// SPDX-License-Identifier: Apache-2.0
// Quantization with a scale for each row or column, and what undoes such scales after a GEMM.
#include "engine/cpu/granularity.h"
#include "engine/cpu/parallel_for.h"

#include <algorithm>

namespace fp8scope::cpu {

using plan::Op;
using plan::TensorId;

namespace {

/// A number for each column: the tensor's own, or its one number repeated.
class ColumnNumbers {
public:
    ColumnNumbers(OpContext& ctx, TensorId id, std::int64_t cols) : m_numbers(ctx.arena->f32(id))
    {
        if (m_numbers.size() == 1)
            m_repeated.assign(static_cast<std::size_t>(cols), m_numbers[0]);
    }
    [[nodiscard]] std::span<const float> all() const { return m_repeated.empty() ? m_numbers : m_repeated; }

private:
    std::span<const float> m_numbers;
    std::vector<float> m_repeated;
};

CastCounts addCounts(CastCounts a, const CastCounts& b) { return a += b; }

/// Casts a row with its own scale, or with those of the columns.
class RowCast {
public:
    RowCast(OpContext& ctx, const Op& op)
        : m_ctx(ctx), m_format(op.fp8Type), m_cols(static_cast<std::size_t>(ctx.tensor(op.inputs[0]).cols)),
          m_x(ctx.arena->bf16(op.inputs[0])), m_scales(ctx.arena->f32(op.inputs[1])),
          m_q(ctx.arena->fp8(op.outputs[0])),
          m_granularity(granularityOf(ctx.tensor(op.inputs[0]), ctx.tensor(op.inputs[1])))
    {}

    CastCounts operator()(std::size_t row) const
    {
        const auto x = m_x.subspan(row * m_cols, m_cols);
        const auto q = m_q.subspan(row * m_cols, m_cols);
        if (m_granularity == Granularity::Column)
            return m_ctx.kernels->castColumns(x, m_scales, m_format, q);
        return m_ctx.kernels->cast(x, m_scales[m_granularity == Granularity::Row ? row : 0], m_format, q).counts;
    }

private:
    OpContext& m_ctx;
    DType m_format;
    std::size_t m_cols;
    std::span<const kernels::Bf16> m_x;
    std::span<const float> m_scales;
    std::span<kernels::Fp8> m_q;
    Granularity m_granularity;
};

}  // namespace

void mulScale(OpContext& ctx, const Op& op)
{
    const plan::Tensor& shape = ctx.tensor(op.inputs[0]);
    const auto x = ctx.arena->f32(op.inputs[0]), y = ctx.arena->f32(op.outputs[0]);
    const std::span<const float> scales = ctx.arena->f32(op.inputs[1]);
    const Granularity granularity = granularityOf(shape, ctx.tensor(op.inputs[1]));
    const auto cols = static_cast<std::size_t>(shape.cols);
    parallelFor(shape.rows, rowGrain(shape.cols), [&](std::int64_t begin, std::int64_t end) {
        for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
            const auto from = x.subspan(row * cols, cols), to = y.subspan(row * cols, cols);
            if (granularity == Granularity::Column)
                ctx.kernels->mulScales(from, scales, to);
            else
                ctx.kernels->mulScale(from, scales[granularity == Granularity::Row ? row : 0], to);
        }
    });
}

void castRows(OpContext& ctx, const Op& op)
{
    const plan::Tensor& shape = ctx.tensor(op.inputs[0]);
    const RowCast castRow(ctx, op);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        CastCounts counts;
        for (std::int64_t row = begin; row < end; ++row)
            counts += castRow(static_cast<std::size_t>(row));
        return counts;
    };
    noteQuantization(ctx, op, parallelReduce(shape.rows, rowGrain(shape.cols), CastCounts{}, part, addCounts));
}

void castBothWays(OpContext& ctx, const Op& op, float* columnPartials)
{
    const plan::Tensor& shape = ctx.tensor(op.inputs[0]);
    const RowCast castRow(ctx, op);
    const ColumnNumbers columnScales(ctx, op.inputs[2], shape.cols);
    const kernels::Bf16* const x = ctx.arena->bf16(op.inputs[0]).data();
    kernels::Fp8* const transposed = ctx.arena->fp8(op.outputs[1]).data();
    const auto part = [&](std::int64_t begin, std::int64_t end) {
        CastCounts counts;
        for (std::int64_t block = begin; block < end; block += kernels::kRowBlock) {
            const kernels::RowRange rows{.rows = shape.rows,
                                         .cols = shape.cols,
                                         .begin = block,
                                         .end = std::min(end, block + kernels::kRowBlock)};
            for (std::int64_t row = rows.begin; row < rows.end; ++row)
                counts += castRow(static_cast<std::size_t>(row));
            ctx.kernels->castColumnsTransposed(x, rows, columnScales.all().data(), op.fp8Type, transposed);
            if (columnPartials != nullptr)
                ctx.kernels->biasGrad(x, rows, columnPartials);
        }
        return counts;
    };
    noteQuantization(ctx, op, parallelReduce(shape.rows, kernels::kRowBlock, CastCounts{}, part, addCounts));
}

void rescaleOutput(OpContext& ctx, const Op& op)
{
    const plan::Tensor& shape = ctx.tensor(op.inputs[0]);
    const std::span<const float> rowFactors = ctx.arena->f32(op.inputs[1]);
    const ColumnNumbers columnNumbers(ctx, op.inputs[2], shape.cols);
    const std::span<const float> columnFactors = columnNumbers.all();
    const auto cols = static_cast<std::size_t>(shape.cols);
    const auto rescaleRow = [&](std::size_t row) {
        const float rowFactor = rowFactors.size() == 1 ? rowFactors[0] : rowFactors[row];
        if (shape.type == DType::Bf16) {
            const kernels::Rescaling args{.rowFactor = rowFactor, .add = op.accumulate};
            ctx.kernels->rescale(ctx.arena->bf16(op.inputs[0]).subspan(row * cols, cols), columnFactors, args,
                                 ctx.arena->bf16(op.outputs[0]).subspan(row * cols, cols));
            return;
        }
        const auto from = ctx.arena->f32(op.inputs[0]).subspan(row * cols, cols);
        const auto to = ctx.arena->f32(op.outputs[0]).subspan(row * cols, cols);
        for (std::size_t c = 0; c < cols; ++c)
            to[c] = from[c] * (rowFactor * columnFactors[c]) + (op.accumulate ? to[c] : 0.0F);
    };
    parallelFor(shape.rows, rowGrain(shape.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            rescaleRow(static_cast<std::size_t>(row));
    });
}

}  // namespace fp8scope::cpu
