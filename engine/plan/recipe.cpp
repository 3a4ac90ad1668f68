// SPDX-License-Identifier: Apache-2.0
// The recipes' defaults: torchao's for the recipes that are torchao's, Transformer Engine's for the others.
#include "engine/plan/recipe.h"

namespace fp8scope::plan {
namespace {

Recipe defaultsOf(RecipeKind kind)
{
    Recipe recipe{.kind = kind};
    // Gradients need e5m2's range where one scale serves a whole tensor; finer scales leave e4m3 enough of it.
    if (!scalesWholeTensors(kind))
        recipe.gradientFormat = DType::E4m3;
    switch (kind) {
    case RecipeKind::Tensorwise: recipe.minAmax = kTensorwiseMinAmax; break;
    case RecipeKind::Delayed: recipe.historyLength = 1024; break;
    case RecipeKind::Rowwise:
    case RecipeKind::RowwiseWithGwHp:
        recipe.minAmax = kTensorwiseMinAmax;
        recipe.powerOfTwo = true;
        break;
    case RecipeKind::Blockwise: recipe.powerOfTwo = true; break;
    case RecipeKind::Mxfp8: recipe.powerOfTwo = true; break;
    }
    return recipe;
}

}  // namespace

Recipe resolved(const RecipeConfig& config)
{
    Recipe recipe = defaultsOf(config.kind);
    recipe.inputFormat = config.inputFormat.value_or(recipe.inputFormat);
    recipe.weightFormat = config.weightFormat.value_or(recipe.weightFormat);
    recipe.gradientFormat = config.gradientFormat.value_or(recipe.gradientFormat);
    recipe.powerOfTwo = config.powerOfTwo.value_or(recipe.powerOfTwo);
    recipe.minAmax = config.minAmax.value_or(recipe.minAmax);
    recipe.historyLength = config.historyLength.value_or(recipe.historyLength);
    recipe.margin = config.margin.value_or(recipe.margin);
    recipe.amaxAlgorithm = config.amaxAlgorithm.value_or(recipe.amaxAlgorithm);
    recipe.e8m0Rounding = config.e8m0Rounding.value_or(recipe.e8m0Rounding);
    return recipe;
}

std::string_view toString(RecipeKind kind)
{
    switch (kind) {
    case RecipeKind::Tensorwise: return "tensorwise";
    case RecipeKind::Delayed: return "delayed";
    case RecipeKind::Rowwise: return "rowwise";
    case RecipeKind::RowwiseWithGwHp: return "rowwise_with_gw_hp";
    case RecipeKind::Blockwise: return "blockwise";
    case RecipeKind::Mxfp8: return "mxfp8";
    }
    return "?";
}

std::string_view toString(AmaxAlgorithm algorithm) { return algorithm == AmaxAlgorithm::Max ? "max" : "most_recent"; }

std::string_view toString(E8m0Rounding rounding) { return rounding == E8m0Rounding::Rceil ? "rceil" : "floor"; }

}  // namespace fp8scope::plan
