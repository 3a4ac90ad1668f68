// SPDX-License-Identifier: Apache-2.0
// What a mode means: its preset of precision and fusions, the overrides on top, and which combinations there are.
#include "collector/trace/error.h"
#include "engine/plan/config_keys.h"
#include "engine/plan/mode_name.h"
#include "engine/plan/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fp8scope::plan {
namespace {

/// `switchName` works on what `needs` made, so it is refused without it.
struct Requirement {
    std::string_view switchName;
    bool Fusions::*member;
    std::string_view needs;
    bool Fusions::*needed;
    std::string_view because;
};

std::vector<Requirement> requirements(RecipeKind recipe)
{
    std::vector<Requirement> all{
        {"dbias_cast_transpose", &Fusions::dbiasCastTranspose, "cast_transpose", &Fusions::castTranspose,
         "it adds the bias gradient to the cast with transpose"},
    };
    if (recipe != RecipeKind::Blockwise)
        all.insert(all.begin(), {"cast_transpose", &Fusions::castTranspose, "cast_chain", &Fusions::castChain,
                                 "it adds the transpose to the one-pass cast"});
    if (recipe == RecipeKind::Delayed || scalesBlocks(recipe))
        all.push_back({"act_cast", &Fusions::actCast, "cast_transpose", &Fusions::castTranspose,
                       recipe == RecipeKind::Delayed
                           ? "with the delayed recipe it adds the activation to the cast with transpose"
                           : "with scales for blocks it adds the activation to the cast with transpose"});
    else
        all.push_back({"act_cast", &Fusions::actCast, "cast_chain", &Fusions::castChain,
                       "it adds the one-pass amax to the activation"});
    return all;
}

Fusions presetOf(std::string_view mode)
{
    if (mode == "fp8-fused")
        return {.biasEpilogue = true,
                .castChain = true,
                .castTranspose = true,
                .dbiasCastTranspose = true,
                .actCast = true,
                .weightCache = true,
                .scaleEpilogue = true};
    if (mode == "bf16")
        return {.biasEpilogue = true};  // the strong baseline: what every framework does for 16-bit linears
    return {};
}

void applyOverrides(Fusions& fusions, const MlpConfig& config)
{
    for (const auto& [name, on] : config.fusionOverrides) {
        for (const FusionSwitch& fusion : fusionSwitches()) {
            if (fusion.name == name)
                fusions.*fusion.member = on;
        }
    }
}

/// A preset holds what its name promises as far as the recipe has it.
void dropUseless(Fusions& fusions, RecipeKind recipe)
{
    for (const FusionSwitch& fusion : fusionSwitches())
        fusions.*fusion.member = fusions.*fusion.member && fusionObstacle(fusion, recipe).empty();
}

void refuseIllegal(const Fusions& fusions, RecipeKind recipe, std::string_view mode)
{
    for (const FusionSwitch& fusion : fusionSwitches()) {
        const std::string_view obstacle = fusionObstacle(fusion, recipe);
        if (fusions.*fusion.member && !obstacle.empty())
            throw Error(
                fmt::format("fusion {} does nothing with the recipe {}: {}", fusion.name, toString(recipe), obstacle),
                fmt::format("fusion.{}", fusion.name), "leave it out");
    }
    for (const Requirement& rule : requirements(recipe)) {
        if (fusions.*rule.member && !(fusions.*rule.needed))
            throw Error(
                fmt::format("fusion {} needs {} in mode {}: {}", rule.switchName, rule.needs, mode, rule.because),
                fmt::format("fusion.{}", rule.switchName),
                fmt::format("turn fusion.{} on or fusion.{} off", rule.needs, rule.switchName));
    }
}

}  // namespace

const std::vector<std::string>& modeNames()
{
    static const std::vector<std::string> names{"bf16", "fp8", "fp8-fused"};
    return names;
}

const std::vector<FusionSwitch>& fusionSwitches()
{
    static const std::vector<FusionSwitch> switches{
        {"bias_epilogue", &Fusions::biasEpilogue, "the GEMM adds the bias"},
        {"cast_chain", &Fusions::castChain,
         "amax in one pass, cast in one pass, scale in one kernel (as torch.compile does)"},
        {"cast_transpose", &Fusions::castTranspose,
         "one pass writes the fp8 tensor and its transpose, once a step; needs cast_chain"},
        {"dbias_cast_transpose", &Fusions::dbiasCastTranspose,
         "that pass also sums the bias gradient; needs cast_transpose"},
        {"act_cast", &Fusions::actCast,
         "the activation also finds the amax (tensorwise, rowwise; needs cast_chain), or the amax, the cast and the "
         "transpose (delayed, blockwise, mxfp8; needs cast_transpose)"},
        {"weight_cache", &Fusions::weightCache, "weights are cast once a step instead of once a micro-batch"},
        {"scale_epilogue", &Fusions::scaleEpilogue, "rowwise: the GEMMs of gradients apply the scales themselves"},
    };
    return switches;
}

std::string_view fusionObstacle(const FusionSwitch& fusion, RecipeKind recipe)
{
    if (fusion.member == &Fusions::castChain && recipe == RecipeKind::Blockwise)
        return "its quantizer is one kernel already";
    if (fusion.member == &Fusions::dbiasCastTranspose && recipe == RecipeKind::RowwiseWithGwHp)
        return "the gradient is never transposed, for the weight gradient's GEMM stays in bf16";
    if (fusion.member == &Fusions::dbiasCastTranspose && recipe == RecipeKind::Blockwise)
        return "no library's block quantizer sums the bias gradient: Transformer Engine has a kernel of its own for it";
    if (fusion.member == &Fusions::scaleEpilogue && recipe == RecipeKind::RowwiseWithGwHp)
        return "no GEMM takes scales of rows on one side and of a tensor on the other";
    if (fusion.member == &Fusions::scaleEpilogue && recipe != RecipeKind::Rowwise)
        return "its GEMMs apply the scales already";
    return {};
}

ModeSettings settingsFor(const MlpConfig& config, std::string_view mode)
{
    std::string broken;
    const std::optional<ModeName> name = parseModeName(mode, broken);
    if (!name) {
        const auto near = nearest(mode, modeNames());
        throw Error(fmt::format("unknown mode '{}'", mode), "modes",
                    near ? fmt::format("did you mean '{}'?", *near) : broken);
    }
    ModeSettings settings{.mode = std::string(mode), .fp8 = name->preset != "bf16", .fusions = presetOf(name->preset)};
    dropUseless(settings.fusions, config.recipe.kind);
    for (const FusionSwitch* added : name->added)
        settings.fusions.*added->member = true;
    applyOverrides(settings.fusions, config);
    if (!settings.fp8)
        settings.fusions = {.biasEpilogue =
                                settings.fusions.biasEpilogue};  // without fp8 there is nothing else to fuse
    refuseIllegal(settings.fusions, config.recipe.kind, mode);
    return settings;
}

}  // namespace fp8scope::plan
