// SPDX-License-Identifier: Apache-2.0
// The CPU's kernels, one for each op kind of a plan that touches a whole tensor. A kernel is single-threaded and works
// on a part of a tensor, so that an executor splits the work as it likes.
//
// Results do not depend on the split or on the vector level, bit for bit: sums are made per block of kRowBlock rows (or
// per row) in a fixed order, everything else is exact or per element. Kernels never throw, allocate or read clocks.
#pragma once

#include "engine/numerics/block_scaling.h"
#include "engine/numerics/quantization.h"
#include "engine/numerics/scale_layout.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fp8scope::kernels {

using Bf16 = std::uint16_t;  ///< the bits of a bf16
using Fp8 = std::uint8_t;    ///< a code of e4m3 or e5m2
using fp8scope::CastCounts;
using fp8scope::maxAmax;

/// amax is the largest |x| of the part, before scaling; a NaN in x gives NaN. Parts are combined with maxAmax().
struct CastResult {
    float amax = 0;
    CastCounts counts;
};

/// Rows that are reduced together; every RowRange begins at a multiple of it (and ends at one, or at the last row).
inline constexpr std::int64_t kRowBlock = 64;

/// A part of a row-major, contiguous matrix: rows [begin, end) of rows x cols. Pointers beside it are to the whole
/// matrix.
struct RowRange {
    std::int64_t rows = 0, cols = 0;
    std::int64_t begin = 0, end = 0;
};

/// Number of partial rows that column sums of a matrix need: buffers are f32[columnSumBlocks(rows)][cols].
[[nodiscard]] constexpr std::int64_t columnSumBlocks(std::int64_t rows) { return (rows + kRowBlock - 1) / kRowBlock; }

enum class ActivationKind : std::uint8_t { Relu, Gelu };

/// An activation on bf16. GELU is the tanh form, as in cuBLASLt's epilogue and Transformer Engine:
/// 0.5 z (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))), tabulated over all bf16 values (computed in double, rounded once).
struct Activation {
    ActivationKind kind = ActivationKind::Relu;
    std::vector<Bf16> value;   ///< 65,536 entries by the bits of z; empty for relu
    std::vector<float> slope;  ///< 65,536 entries; empty for relu
};
[[nodiscard]] Activation makeActivation(ActivationKind);

/// One read of x gives q, its transpose, the amax, the counters and, if asked for, partial column sums.
struct CastTransposeArgs {
    const Bf16* x = nullptr;
    float scale = 1;
    DType format = DType::E4m3;
    RowRange part;
    Fp8* q = nullptr;                 ///< [rows, cols]
    Fp8* qTransposed = nullptr;       ///< [cols, rows]
    float* columnPartials = nullptr;  ///< null, or f32[columnSumBlocks(rows)][cols]; the part's rows of it are written
};

/// How a kernel chooses the scales of blocks, and where it puts their dequantization factors (numerics/scale_layout.h).
struct BlockScaling {
    ScaleMode mode = ScaleMode::Vec128_32F;  ///< Vec128_32F or Blk128x128_32F (scales f32), or Vec32Ue8m0 (e8m0)
    DType format = DType::E4m3;
    bool powerOfTwo = true;                       ///< f32 scales
    float minAmax = 0;                            ///< f32 scales
    E8m0Rounding rounding = E8m0Rounding::Rceil;  ///< e8m0 scales
    bool swizzled = true;                         ///< e8m0 scales
};

/// How a row of a GEMM's product is scaled back.
struct Rescaling {
    float rowFactor = 1;
    bool add = false;  ///< to what is there
};

/// Rows that a block cast works on together; its parts begin at multiples of it.
inline constexpr std::int64_t kScaleBlock = 128;

/// One read of x gives q with a scale for each block of a row, or its transpose with scales of the transpose's own, or
/// both. Scale buffers with padding are zero before.
struct BlockCastArgs {
    const Bf16* x = nullptr;
    const Activation* activation = nullptr;  ///< null, or what is applied to x first
    BlockScaling scaling;
    RowRange part;
    Fp8* q = nullptr;                ///< null, or [rows, cols]
    std::uint8_t* scales = nullptr;  ///< bytes of f32 or e8m0
    Fp8* qTransposed = nullptr;      ///< null, or [cols, rows]
    std::uint8_t* scalesTransposed = nullptr;
    float* columnPartials = nullptr;  ///< as in CastTransposeArgs
};

/// An fp8 GEMM operand of outer x inner elements, inner contiguous, with dequantization factors laid out for its mode.
struct ScaledOperand {
    const Fp8* q = nullptr;
    DType format = DType::E4m3;
    ScaleLayout layout;
    const std::uint8_t* scales = nullptr;  ///< bytes of f32 or e8m0
};

/// One read of da, and of z or relu's mask, gives dz = bf16(da * f'(z)), or dz's fp8 tensor and transpose; the amax of
/// dz, the counters and, if asked for, partial column sums.
struct ActBackwardArgs {
    const Bf16* da = nullptr;
    const Bf16* z = nullptr;  ///< null with a mask
    const std::uint32_t* mask =
        nullptr;  ///< of rows of maskWords words; bit c % 32 of word c / 32: z is positive or NaN
    std::size_t maskWords = 0;
    RowRange part;
    Bf16* dz = nullptr;  ///< [rows, cols], or null: not kept
    float scale = 1;
    DType format = DType::E4m3;
    Fp8* q = nullptr;                 ///< [rows, cols], or null: not cast
    Fp8* qTransposed = nullptr;       ///< [cols, rows] with q
    float* columnPartials = nullptr;  ///< as in CastTransposeArgs
};

/// What an optimizer updates: one slice of a parameter. Exactly one of the gradients is set.
struct ParameterSlice {
    std::size_t n = 0;
    const Bf16* gradBf16 = nullptr;
    const float* gradF32 = nullptr;
    float* master = nullptr;
    Bf16* weight = nullptr;     ///< receives the rounded master
    float* momentum = nullptr;  ///< SGD's buffer, Adam's first moment
    float* variance = nullptr;  ///< Adam's second moment; null for SGD
};
/// torch.optim.SGD: buffer = momentum * buffer + g; p -= learningRate * buffer.
struct SgdSettings {
    float learningRate = 0, momentum = 0;
};
/// torch.optim.Adam: m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; p -= stepSize * m / (sqrt(v) * invSqrtCorrection2 +
/// epsilon)
struct AdamSettings {
    float beta1 = 0, oneMinusBeta1 = 1, beta2 = 0, oneMinusBeta2 = 1, epsilon = 0;
    float stepSize = 0;            ///< learningRate / (1 - beta1^step)
    float invSqrtCorrection2 = 1;  ///< 1 / sqrt(1 - beta2^step)
};
[[nodiscard]] AdamSettings adamSettings(double learningRate, double beta1, double beta2, double epsilon,
                                        std::int64_t step);

enum class VectorLevel : std::uint8_t { Portable, Avx2, Avx512 };
[[nodiscard]] std::string_view toString(VectorLevel);
/// The best level of this CPU, lowered to `limit` ("portable", "avx2", "avx512"; empty: no limit). Throws Error for
/// another word. Programs pass the environment's FP8SCOPE_SIMD.
[[nodiscard]] VectorLevel vectorLevelFor(std::string_view limit);

/// All kernels at one vector level. Spans of one call have equal lengths unless said otherwise.
struct CpuKernels {
    VectorLevel level;

    // The eager chain (one pass each).
    void (*abs)(std::span<const Bf16> x, std::span<Bf16> y);
    float (*maxReduce)(std::span<const Bf16> x);  ///< x >= 0 (the output of abs); NaN wins
    void (*toF32)(std::span<const Bf16> x, std::span<float> y);
    void (*mulScale)(std::span<const float> x, float scale, std::span<float> y);
    std::uint64_t (*clamp)(std::span<const float> x, float limit,
                           std::span<float> y);  ///< returns the saturated; NaN stays
    CastCounts (*toFp8)(std::span<const float> x, DType format, std::span<Fp8> q);  ///< counts underflowed, zeros

    // Fused quantization. cast is bitwise toF32 + mulScale + clamp + toFp8, counters included.
    float (*amax)(std::span<const Bf16> x);
    CastResult (*cast)(std::span<const Bf16> x, float scale, DType format, std::span<Fp8> q);
    void (*transpose)(const Fp8* q, const RowRange& part, Fp8* qTransposed);
    CastResult (*castTranspose)(const CastTransposeArgs&);

    // Scales for each row or column. Spans of x and q hold one row.
    /// magnitudes[c] = the larger of itself and |x| in column c of the part's rows; NaN wins.
    void (*columnAmax)(const Bf16* x, const RowRange& part, std::span<Bf16> magnitudes);
    void (*mulScales)(std::span<const float> x, std::span<const float> scales, std::span<float> y);
    CastCounts (*castColumns)(std::span<const Bf16> x, std::span<const float> scales, DType format, std::span<Fp8> q);
    /// qTransposed [cols, rows] = castColumns of the part's rows, transposed; counts nothing.
    void (*castColumnsTransposed)(const Bf16* x, const RowRange& part, const float* scales, DType format,
                                  Fp8* qTransposed);
    /// y = bf16(x * (rowFactor * columnFactors) [+ y]).
    void (*rescale)(std::span<const Bf16> x, std::span<const float> columnFactors, const Rescaling&, std::span<Bf16> y);

    // Scales for each block. The counters are q's, or the transpose's where only that is wanted.
    CastResult (*blockCast)(const BlockCastArgs&);

    // Bias. Spans hold whole rows; bias.size() is the number of columns.
    void (*biasAdd)(std::span<const Bf16> bias, std::span<Bf16> y);  ///< y = bf16(y + bias), in place
    void (*biasGrad)(const Bf16* dy, const RowRange& part, float* columnPartials);
    /// Finishes column sums: out[c] = partials of column c added in block order, for columns [colBegin, colEnd).
    void (*reduceColumns)(const float* columnPartials, std::int64_t rows, std::int64_t cols, std::int64_t colBegin,
                          std::int64_t colEnd, float* out);

    // Activation. a[i] = f(z[i]); dz = bf16(da * f'(z)); relu: dz = z <= 0 ? 0 : da.
    void (*actForward)(const Activation&, std::span<const Bf16> z, std::span<Bf16> a);
    float (*actAmax)(const Activation&, std::span<const Bf16> z, std::span<Bf16> a);  ///< and the amax of a
    /// Quantizes a = f(z), z being args.x; the amax is a's. No column sums: columnPartials is null.
    CastResult (*actCastTranspose)(const Activation&, const CastTransposeArgs& args);
    void (*actBackward)(const Activation&, std::span<const Bf16> da, std::span<const Bf16> z, std::span<Bf16> dz);
    CastResult (*actBackwardCast)(const Activation&, const ActBackwardArgs&);
    /// relu that keeps one bit an element; a may be z. mask has a word for each 32 elements, the last one filled with
    /// 0.
    void (*reluMask)(std::span<const Bf16> z, std::span<Bf16> a, std::uint32_t* mask);

    // Losses, over whole rows of y. rowLoss has one entry for each row of the spans; add them in order of rows.
    /// rowLoss = sum of (y - target)^2; dy = bf16(gradScale * (y - target)), gradScale = 2 / elements for the mean.
    void (*squaredError)(std::span<const Bf16> y, std::span<const float> target, std::int64_t cols, float gradScale,
                         std::span<Bf16> dy, std::span<double> rowLoss);
    void (*squaredErrorBf16)(std::span<const Bf16> y, std::span<const Bf16> target, std::int64_t cols, float gradScale,
                             std::span<Bf16> dy, std::span<double> rowLoss);
    /// rowLoss = -log softmax(y)[label]; dy = bf16(gradScale * (softmax(y) - onehot)), gradScale = 1 / batch for the
    /// mean. labels has one entry a row, in [0, cols).
    void (*softmaxCrossEntropy)(std::span<const Bf16> y, std::span<const std::int32_t> labels, std::int64_t cols,
                                float gradScale, std::span<Bf16> dy, std::span<double> rowLoss);

    void (*sgd)(const ParameterSlice&, const SgdSettings&);
    void (*adam)(const ParameterSlice&, const AdamSettings&);

    // GEMM operands and results.
    void (*decodeFp8)(std::span<const Fp8> q, DType format, float scale, std::span<float> y);  ///< y = value(q) * scale
    void (*decodeFp8ToBf16)(std::span<const Fp8> q, DType format, std::span<Bf16> y);          ///< exact
    /// y = value(q) * factor for the outer rows [begin, end); y is the whole operand. To bf16 for factors that are
    /// powers of two, with which it is exact.
    void (*decodeScaled)(const ScaledOperand&, std::int64_t begin, std::int64_t end, float* y);
    void (*decodeScaledToBf16)(const ScaledOperand&, std::int64_t begin, std::int64_t end, Bf16* y);
    void (*encodeBf16)(std::span<const float> x, std::span<Bf16> y);
    /// A GEMM's bias epilogue: y = bf16(x + bias), rounded once; bias.size() is the number of columns.
    void (*encodeBf16Bias)(std::span<const float> x, std::span<const Bf16> bias, std::span<Bf16> y);
};

/// The kernels of a level that this CPU has.
[[nodiscard]] const CpuKernels& cpuKernels(VectorLevel);

}  // namespace fp8scope::kernels
