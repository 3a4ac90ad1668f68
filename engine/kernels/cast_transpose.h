// SPDX-License-Identifier: Apache-2.0
// One read of a bf16 matrix (or of an activation's input) writes its fp8 tensor, the transpose, the amax, the counters and
// partial column sums, tile by tile.
#pragma once

#include "engine/kernels/activation.h"
#include "engine/kernels/cast.h"
#include "engine/kernels/transpose.h"

#include <type_traits>

namespace fp8scope::kernels {

/// Where a tile's rows come from: memory as it is.
struct StoredRows {
    [[gnu::always_inline]] const Bf16* row(const Bf16* x, std::size_t) { return x; }
};

/// ... or an activation of what is in memory.
template <int B>
struct ActivatedRows {
    const Activation& function;
    alignas(64) Bf16 values[kTile];
    [[gnu::always_inline]] const Bf16* row(const Bf16* z, std::size_t n)
    {
        activate<B>(function, z, n, values);
        return values;
    }
};

template <int B, DType Type, bool WithSums, class Rows>
class CastTransposer {
public:
    CastTransposer(const CastTransposeArgs& args, Rows& rows) : m_args(args), m_rows(rows) {}

    CastResult run()
    {
        forEachTile(m_args.part, [this](std::size_t row, std::size_t rows, std::size_t column, std::size_t cols) {
            if (rows == kTile && cols == kTile)
                tile(row, std::integral_constant<std::size_t, kTile>{}, column, std::integral_constant<std::size_t, kTile>{});
            else
                tile(row, rows, column, cols);
        });
        return {.amax = m_tracker.amax(), .counts = m_counters.total()};
    }

private:
    template <class Count>
    void tile(std::size_t row, Count rows, std::size_t column, Count cols)
    {
        const auto stride = static_cast<std::size_t>(m_args.part.cols);
        const auto height = static_cast<std::size_t>(m_args.part.rows);
        alignas(64) Fp8 codes[kTile][kTile];
        quantizeTile(m_args.x + row * stride + column, stride, rows, cols, codes);
        if (m_args.columnPartials != nullptr && WithSums)
            std::memcpy(m_args.columnPartials + row / kTile * stride + column, m_sums, cols * sizeof(float));
        if (m_args.q != nullptr)
            for (std::size_t i = 0; i < rows; ++i)
                std::memcpy(m_args.q + (row + i) * stride + column, codes[i], cols);
        Fp8* out = m_args.qTransposed + column * height + row;
        if constexpr (std::is_same_v<Count, std::size_t>)
            transposeEdgeTile<B>(&codes[0][0], kTile, rows, cols, out, height);
        else
            transposeTile<B>(&codes[0][0], kTile, out, height);
    }

    template <class Count>
    [[gnu::always_inline]] void quantizeTile(const Bf16* x, std::size_t stride, Count rows, Count cols, Fp8 (&codes)[kTile][kTile])
    {
        const auto factor = Vec<B>::splat(m_args.scale);
        CastCounters<B> counters = m_counters;
        AmaxTracker<B> tracker = m_tracker;
        F32<B> sums[kTile / kLanes];
        for (F32<B>& sum : sums)
            sum = Vec<B>::splat(0.0F);
        for (std::size_t i = 0; i < rows; ++i) {
            const Bf16* values = m_rows.row(x + i * stride, cols);
            forEachVector<B>(cols, [&](std::size_t c, const auto& lanes) {
                const U32<B> bits = lanes.load(values + c);
                const F32<B> v = widenBf16<B>(bits);
                tracker.see(bits);
                if constexpr (WithSums)
                    sums[c / kLanes] = sums[c / kLanes] + v;
                lanes.store(&codes[i][c], roundToFp8<B, Type>(v * factor, counters, lanes));
            });
        }
        m_counters = counters;
        m_tracker = tracker;
        for (std::size_t i = 0; i < kTile / kLanes; ++i)
            WholeVector<B>::store(m_sums + i * kLanes, sums[i]);
    }

    const CastTransposeArgs& m_args;
    Rows& m_rows;
    CastCounters<B> m_counters;
    AmaxTracker<B> m_tracker;
    alignas(64) float m_sums[kTile];
};

template <int B, bool WithSums, class Rows>
CastResult castTransposeRows(const CastTransposeArgs& args, Rows rows)
{
    if (args.format == DType::E4m3)
        return CastTransposer<B, DType::E4m3, WithSums, Rows>(args, rows).run();
    return CastTransposer<B, DType::E5m2, WithSums, Rows>(args, rows).run();
}

template <int B>
CastResult castTransposeKernel(const CastTransposeArgs& args)
{
    return args.columnPartials != nullptr ? castTransposeRows<B, true>(args, StoredRows{})
                                          : castTransposeRows<B, false>(args, StoredRows{});
}

template <int B>
CastResult actCastTransposeKernel(const Activation& function, const CastTransposeArgs& args)
{
    return args.columnPartials != nullptr ? castTransposeRows<B, true>(args, ActivatedRows<B>{function, {}})
                                          : castTransposeRows<B, false>(args, ActivatedRows<B>{function, {}});
}

}  // namespace fp8scope::kernels
