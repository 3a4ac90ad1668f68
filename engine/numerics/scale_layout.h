// SPDX-License-Identifier: Apache-2.0
// Where the scales of an fp8 GEMM operand stand in memory, as cuBLASLt wants them. Source: NVIDIA cuBLAS documentation,
// "cublasLtMatmulMatrixScale_t" and "Narrow Precision Data Types Usage".
#pragma once

#include <cstdint>

namespace fp8scope {

/// How the dequantization factors of a GEMM operand are laid out. Values are cuBLASLt's (cublasLtMatmulMatrixScale_t).
enum class ScaleMode : std::uint8_t {
    None = 255,
    Scalar32F = 0,       ///< one f32
    Vec32Ue8m0 = 2,      ///< an e8m0 for 32 elements along k (mxfp8)
    OuterVec32F = 3,     ///< an f32 for each row (of A) or column (of B)
    Vec128_32F = 4,      ///< an f32 for 128 elements along k
    Blk128x128_32F = 5,  ///< an f32 for 128 x 128 elements
};

/// The scales of an operand of `outer` (m or n) times `inner` (k) elements, k contiguous.
struct ScaleLayout {
    ScaleMode mode = ScaleMode::Scalar32F;
    std::int64_t outer = 1, inner = 1;
    bool swizzled = true;  ///< Vec32Ue8m0: as cuBLASLt wants it; false: row by row, as a plain kernel writes it

    /// Elements along `outer` and `inner` that share a scale.
    [[nodiscard]] constexpr std::int64_t outerBlock() const
    {
        return mode == ScaleMode::Scalar32F ? outer : mode == ScaleMode::Blk128x128_32F ? 128 : 1;
    }
    [[nodiscard]] constexpr std::int64_t innerBlock() const
    {
        switch (mode) {
        case ScaleMode::Vec32Ue8m0: return 32;
        case ScaleMode::Vec128_32F:
        case ScaleMode::Blk128x128_32F: return 128;
        default: return inner;
        }
    }
    [[nodiscard]] constexpr std::int64_t outerBlocks() const { return ceilDivide(outer, outerBlock()); }
    [[nodiscard]] constexpr std::int64_t innerBlocks() const { return ceilDivide(inner, innerBlock()); }

    /// The scales as a row-major matrix, padding included.
    [[nodiscard]] constexpr std::int64_t storedRows() const
    {
        switch (mode) {
        case ScaleMode::Vec32Ue8m0: return swizzled ? ceilDivide(outer, 128) * 128 : outer;
        case ScaleMode::Vec128_32F: return innerBlocks();  // "M-major": the scales of one block of k stand together
        case ScaleMode::Blk128x128_32F: return outerBlocks();
        default: return 1;
        }
    }
    [[nodiscard]] constexpr std::int64_t storedCols() const
    {
        switch (mode) {
        case ScaleMode::Vec32Ue8m0: return swizzled ? ceilDivide(innerBlocks(), 4) * 4 : innerBlocks();
        case ScaleMode::Blk128x128_32F: return ceilDivide(innerBlocks(), 4) * 4;  // K-major, stride a multiple of 4
        case ScaleMode::Scalar32F: return 1;
        default: return outer;
        }
    }
    [[nodiscard]] constexpr bool padded() const { return storedRows() * storedCols() != outerBlocks() * innerBlocks(); }

    /// The position of a block's scale. Swizzled: 512-byte tiles of 128 rows x 4 blocks; within one, the rows r, r +
    /// 32, r + 64 and r + 96 stand side by side.
    [[nodiscard]] constexpr std::int64_t index(std::int64_t outerIndex, std::int64_t innerIndex) const
    {
        switch (mode) {
        case ScaleMode::Vec32Ue8m0: break;
        case ScaleMode::Vec128_32F: return innerIndex * outer + outerIndex;
        case ScaleMode::Blk128x128_32F: return outerIndex * storedCols() + innerIndex;
        default: return outerIndex;
        }
        if (!swizzled)
            return outerIndex * storedCols() + innerIndex;
        const std::int64_t tile = outerIndex / 128 * (storedCols() / 4) + innerIndex / 4;
        return tile * 512 + outerIndex % 32 * 16 + outerIndex % 128 / 32 * 4 + innerIndex % 4;
    }

    [[nodiscard]] static constexpr std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
};

}  // namespace fp8scope
