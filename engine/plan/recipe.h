// SPDX-License-Identifier: Apache-2.0
// How scales are chosen: what a configuration says about it, and what that means with every default filled in.
// Formulas and their sources: resources/help/recipes.md.
#pragma once

#include "engine/numerics/block_scaling.h"
#include "engine/numerics/formats.h"
#include "engine/numerics/scaling.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace fp8scope::plan {

enum class RecipeKind : std::uint8_t {
    Tensorwise,       ///< torchao tensorwise, Transformer Engine current scaling
    Delayed,          ///< Transformer Engine delayed scaling
    Rowwise,          ///< torchao rowwise: a scale for each row and column of a GEMM
    RowwiseWithGwHp,  ///< torchao rowwise_with_gw_hp: the weight gradient's GEMM stays in bf16
    Blockwise,        ///< 1x128 blocks of activations and gradients, 128x128 of weights
    Mxfp8,            ///< 32-element blocks with e8m0 scales
};

/// What is not set has the recipe's default. What is set must be something that the recipe uses.
struct RecipeConfig {
    RecipeKind kind = RecipeKind::Tensorwise;
    std::optional<DType> inputFormat, weightFormat, gradientFormat;
    std::optional<bool> powerOfTwo;    ///< scales are rounded down to powers of two
    std::optional<double> minAmax;     ///< a smaller amax counts as this
    std::optional<int> historyLength;  ///< steps whose amaxes decide the scale
    std::optional<int> margin;         ///< scale = (max / amax) / 2^margin
    std::optional<AmaxAlgorithm> amaxAlgorithm;
    std::optional<E8m0Rounding> e8m0Rounding;
};

/// A recipe with every default filled in; what it does not use has the value that changes nothing.
struct Recipe {
    RecipeKind kind = RecipeKind::Tensorwise;
    DType inputFormat = DType::E4m3, weightFormat = DType::E4m3, gradientFormat = DType::E5m2;
    bool powerOfTwo = false;
    double minAmax = 0;
    int historyLength = 0;
    int margin = 0;
    AmaxAlgorithm amaxAlgorithm = AmaxAlgorithm::Max;
    E8m0Rounding e8m0Rounding = E8m0Rounding::Rceil;
};
[[nodiscard]] Recipe resolved(const RecipeConfig&);

/// Whether every tensor has one scale (tensorwise, delayed).
[[nodiscard]] constexpr bool scalesWholeTensors(RecipeKind kind)
{
    return kind == RecipeKind::Tensorwise || kind == RecipeKind::Delayed;
}
/// Whether a scale belongs to a block of a row, so that one kernel finds amax and scale and casts.
[[nodiscard]] constexpr bool scalesBlocks(RecipeKind kind)
{
    return kind == RecipeKind::Blockwise || kind == RecipeKind::Mxfp8;
}

[[nodiscard]] std::string_view toString(RecipeKind);
[[nodiscard]] std::string_view toString(AmaxAlgorithm);
[[nodiscard]] std::string_view toString(E8m0Rounding);

}  // namespace fp8scope::plan
