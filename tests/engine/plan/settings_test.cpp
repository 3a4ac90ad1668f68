// SPDX-License-Identifier: Apache-2.0
// Modes as presets, overrides on top, and combinations that cannot be.
#include "collector/trace/error.h"
#include "engine/plan/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::plan {
namespace {

std::string refusalOf(const MlpConfig& config, std::string_view mode)
{
    try {
        static_cast<void>(settingsFor(config, mode));
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

MlpConfig withOverrides(std::vector<std::pair<std::string, bool>> overrides)
{
    MlpConfig config;
    config.fusionOverrides = std::move(overrides);
    return config;
}

TEST(SettingsTest, ModesArePresets)
{
    EXPECT_EQ(settingsFor({}, "bf16").fusions, (Fusions{.biasEpilogue = true}));
    EXPECT_FALSE(settingsFor({}, "bf16").fp8);
    EXPECT_EQ(settingsFor({}, "fp8").fusions, Fusions{});
    EXPECT_TRUE(settingsFor({}, "fp8").fp8);
    EXPECT_EQ(settingsFor({}, "fp8-fused").fusions, (Fusions{.biasEpilogue = true,
                                                             .castChain = true,
                                                             .castTranspose = true,
                                                             .dbiasCastTranspose = true,
                                                             .actCast = true,
                                                             .dactDbiasCastTranspose = true,
                                                             .weightCache = true}));
}

TEST(SettingsTest, OverridesChangeThePreset)
{
    EXPECT_EQ(settingsFor(withOverrides({{"cast_chain", true}}), "fp8").fusions, (Fusions{.castChain = true}));
    EXPECT_FALSE(settingsFor(withOverrides({{"act_cast", false}}), "fp8-fused").fusions.actCast);
    EXPECT_FALSE(settingsFor(withOverrides({{"bias_epilogue", false}}), "bf16").fusions.biasEpilogue);
}

TEST(SettingsTest, Bf16HasNoCastsToFuse)
{
    EXPECT_EQ(settingsFor(withOverrides({{"cast_transpose", true}}), "bf16").fusions, (Fusions{.biasEpilogue = true}));
}

TEST(SettingsTest, FusionsMayBeAddedToAMode)
{
    EXPECT_EQ(settingsFor({}, "fp8+cast_chain+bias_epilogue").fusions,
              (Fusions{.biasEpilogue = true, .castChain = true}));
    EXPECT_EQ(settingsFor({}, "fp8+cast_chain").mode, "fp8+cast_chain");
    EXPECT_FALSE(settingsFor(withOverrides({{"cast_chain", false}}), "fp8+cast_chain").fusions.castChain);
}

TEST(SettingsTest, FusionsThatCannotBeAddedAreRefused)
{
    EXPECT_EQ(refusalOf({}, "fp8+cast"), "modes: unknown mode 'fp8+cast'; no fusion is named 'cast'");
    EXPECT_EQ(refusalOf({}, "fp8+"), "modes: unknown mode 'fp8+'; did you mean 'fp8'?");
    EXPECT_EQ(refusalOf({}, "fp8+act_cast+act_cast"),
              "modes: unknown mode 'fp8+act_cast+act_cast'; 'act_cast' is added twice");
    EXPECT_EQ(refusalOf({}, "bf16+bias_epilogue"),
              "modes: unknown mode 'bf16+bias_epilogue'; bf16 casts nothing, so there is no fusion to add");
    EXPECT_THAT(refusalOf({}, "fp8+cast_transpose"), testing::HasSubstr("fusion cast_transpose needs cast_chain"));
}

TEST(SettingsTest, UnknownModesAreRefused)
{
    EXPECT_EQ(refusalOf({}, "fp8-fuse"), "modes: unknown mode 'fp8-fuse'; did you mean 'fp8-fused'?");
    EXPECT_EQ(refusalOf({}, "int8-everything"),
              "modes: unknown mode 'int8-everything'; the modes are bf16, fp8, fp8-fused");
}

TEST(SettingsTest, FusionsWithoutWhatTheyBuildOnAreRefused)
{
    EXPECT_EQ(refusalOf(withOverrides({{"cast_chain", false}}), "fp8-fused"),
              "fusion.cast_transpose: fusion cast_transpose needs cast_chain in mode fp8-fused: it adds the transpose "
              "to the one-pass "
              "cast; turn fusion.cast_chain on or fusion.cast_transpose off");
    EXPECT_EQ(refusalOf(withOverrides({{"dbias_cast_transpose", true}}), "fp8"),
              "fusion.dbias_cast_transpose: fusion dbias_cast_transpose needs cast_transpose in mode fp8: it adds the "
              "bias gradient to "
              "the cast with transpose; turn fusion.cast_transpose on or fusion.dbias_cast_transpose off");
    EXPECT_EQ(refusalOf(withOverrides({{"cast_chain", true}, {"act_cast", true}}), "fp8"), "accepted");
}

TEST(SettingsTest, WithDelayedScalesTheActivationFusesWithTheTranspose)
{
    MlpConfig config = withOverrides({{"cast_chain", true}, {"act_cast", true}});
    config.recipe.kind = RecipeKind::Delayed;
    EXPECT_EQ(refusalOf(config, "fp8"), "fusion.act_cast: fusion act_cast needs cast_transpose in mode fp8: with the "
                                        "delayed recipe it adds the activation to the "
                                        "cast with transpose; turn fusion.cast_transpose on or fusion.act_cast off");
}

TEST(SettingsTest, TheFusedModeHasWhatItsRecipeCanHave)
{
    MlpConfig config;
    EXPECT_FALSE(settingsFor(config, "fp8-fused").fusions.optimizerCast);
    config.recipe.kind = RecipeKind::Delayed;
    EXPECT_TRUE(settingsFor(config, "fp8-fused").fusions.optimizerCast);
}

TEST(SettingsTest, FusionsThatTheRecipeCannotHaveAreRefusedWithTheReason)
{
    EXPECT_EQ(
        refusalOf(withOverrides({{"cast_chain", true}, {"cast_transpose", true}, {"optimizer_cast", true}}), "fp8"),
        "fusion.optimizer_cast: fusion optimizer_cast does nothing with the recipe tensorwise: its scales depend on "
        "the amax of the updated weight, which is known after the update only; leave it out");
}

TEST(SettingsTest, AnActivationInTheEpilogueLeavesNoneToCast)
{
    EXPECT_EQ(
        refusalOf(withOverrides({{"act_epilogue", true}}), "fp8-fused"),
        "fusion.act_epilogue: fusion act_epilogue excludes act_cast in mode fp8-fused: the GEMM applies the "
        "activation, so no activation kernel is left to find the amax or cast; turn one of fusion.act_epilogue and "
        "fusion.act_cast off");
    EXPECT_EQ(refusalOf(withOverrides({{"act_epilogue", true}, {"act_cast", false}}), "fp8-fused"), "accepted");
    EXPECT_EQ(refusalOf(withOverrides({{"act_epilogue", true}}), "fp8"),
              "fusion.act_epilogue: fusion act_epilogue needs bias_epilogue in mode fp8: the bias comes before the "
              "activation, so the GEMM must add it; turn fusion.bias_epilogue on or fusion.act_epilogue off");
    EXPECT_TRUE(settingsFor(withOverrides({{"act_epilogue", true}}), "bf16").fusions.actEpilogue);
}

TEST(SettingsTest, WeightsCastByTheUpdateServeEveryMicroBatch)
{
    MlpConfig config = withOverrides({{"weight_cache", false}});
    config.recipe.kind = RecipeKind::Delayed;
    EXPECT_EQ(refusalOf(config, "fp8-fused"), "accepted");
    config.microBatches = 2;
    EXPECT_EQ(refusalOf(config, "fp8-fused"),
              "fusion.optimizer_cast: fusion optimizer_cast needs weight_cache in mode fp8-fused: what the update cast "
              "serves all micro-batches; turn fusion.weight_cache on or fusion.optimizer_cast off");
}

TEST(SettingsTest, SwitchesAreInAblationOrder)
{
    std::vector<std::string_view> names;
    for (const FusionSwitch& fusion : fusionSwitches())
        names.push_back(fusion.name);
    EXPECT_THAT(names, testing::ElementsAre("bias_epilogue", "cast_chain", "cast_transpose", "dbias_cast_transpose",
                                            "act_cast", "dact_dbias_cast_transpose", "weight_cache", "scale_epilogue",
                                            "optimizer_cast", "act_epilogue", "graph"));
}

MlpConfig ofRecipe(RecipeKind kind, std::vector<std::pair<std::string, bool>> overrides = {})
{
    MlpConfig config = withOverrides(std::move(overrides));
    config.recipe.kind = kind;
    return config;
}

TEST(SettingsTest, PresetsHoldWhatTheRecipeHas)
{
    const Fusions all{.biasEpilogue = true,
                      .castChain = true,
                      .castTranspose = true,
                      .dbiasCastTranspose = true,
                      .actCast = true,
                      .weightCache = true,
                      .scaleEpilogue = true};
    EXPECT_EQ(settingsFor(ofRecipe(RecipeKind::Rowwise), "fp8-fused").fusions, all);
    Fusions blockwise = all;
    blockwise.castChain = blockwise.dbiasCastTranspose = blockwise.scaleEpilogue = false;
    EXPECT_EQ(settingsFor(ofRecipe(RecipeKind::Blockwise), "fp8-fused").fusions, blockwise);
}

TEST(SettingsTest, AFusionThatDoesNothingWithTheRecipeIsRefusedByHand)
{
    EXPECT_EQ(
        refusalOf(ofRecipe(RecipeKind::Blockwise, {{"cast_chain", true}}), "fp8"),
        "fusion.cast_chain: fusion cast_chain does nothing with the recipe blockwise: its quantizer is one kernel "
        "already; leave it out");
    EXPECT_EQ(refusalOf(ofRecipe(RecipeKind::Tensorwise, {{"scale_epilogue", true}}), "fp8"),
              "fusion.scale_epilogue: fusion scale_epilogue does nothing with the recipe tensorwise: its GEMMs apply "
              "the scales already; leave it out");
    EXPECT_EQ(refusalOf(ofRecipe(RecipeKind::Blockwise, {{"cast_transpose", true}}), "fp8"), "accepted");
    EXPECT_EQ(refusalOf(ofRecipe(RecipeKind::Mxfp8, {{"cast_chain", true}, {"act_cast", true}}), "fp8"),
              "fusion.act_cast: fusion act_cast needs cast_transpose in mode fp8: with scales for blocks it adds the "
              "activation to the cast with transpose; turn fusion.cast_transpose on or fusion.act_cast off");
}

}  // namespace
}  // namespace fp8scope::plan
