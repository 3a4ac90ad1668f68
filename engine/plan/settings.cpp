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
    all.push_back({"dact_dbias_cast_transpose", &Fusions::dactDbiasCastTranspose, "dbias_cast_transpose",
                   &Fusions::dbiasCastTranspose, "it adds the activation's gradient to that pass"});
    all.push_back({"optimizer_cast", &Fusions::optimizerCast, "cast_transpose", &Fusions::castTranspose,
                   "it moves the one cast of a weight into the update"});
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
                .dactDbiasCastTranspose = true,
                .weightCache = true,
                .scaleEpilogue = true,
                .optimizerCast = true};
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

/// Combinations that are refused for another reason than something missing.
void refuseConflicts(const Fusions& fusions, const MlpConfig& config, std::string_view mode)
{
    if (fusions.actEpilogue && fusions.actCast)
        throw Error(fmt::format("fusion act_epilogue excludes act_cast in mode {}: the GEMM applies the activation, so "
                                "no activation kernel is left to find the amax or cast",
                                mode),
                    "fusion.act_epilogue", "turn one of fusion.act_epilogue and fusion.act_cast off");
    if (fusions.actEpilogue && config.bias && !fusions.biasEpilogue)
        throw Error(fmt::format("fusion act_epilogue needs bias_epilogue in mode {}: the bias comes before the "
                                "activation, so the GEMM must add it",
                                mode),
                    "fusion.act_epilogue", "turn fusion.bias_epilogue on or fusion.act_epilogue off");
    if (fusions.optimizerCast && config.microBatches > 1 && !fusions.weightCache)
        throw Error(fmt::format("fusion optimizer_cast needs weight_cache in mode {}: what the update cast serves all "
                                "micro-batches",
                                mode),
                    "fusion.optimizer_cast", "turn fusion.weight_cache on or fusion.optimizer_cast off");
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
        {"dact_dbias_cast_transpose", &Fusions::dactDbiasCastTranspose,
         "the activation's gradient also finds amax and bias gradient (tensorwise), or casts and transposes as well "
         "(delayed); needs dbias_cast_transpose"},
        {"weight_cache", &Fusions::weightCache, "weights are cast once a step instead of once a micro-batch"},
        {"scale_epilogue", &Fusions::scaleEpilogue, "rowwise: the GEMMs of gradients apply the scales themselves"},
        {"optimizer_cast", &Fusions::optimizerCast,
         "delayed: the update writes next step's fp8 weights and their transposes; needs cast_transpose"},
        {"act_epilogue", &Fusions::actEpilogue,
         "the GEMM applies the activation and keeps what backward needs; tensorwise and delayed, excludes act_cast"},
        {"graph", &Fusions::graph, "a GPU launches the step as one CUDA graph; a CPU has no launches to save"},
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
    if (fusion.member == &Fusions::optimizerCast && recipe != RecipeKind::Delayed)
        return "its scales depend on the amax of the updated weight, which is known after the update only";
    if (fusion.member == &Fusions::dactDbiasCastTranspose && !scalesWholeTensors(recipe))
        return "no kernel undoes an activation and finds scales of rows or blocks";
    if (fusion.member == &Fusions::actEpilogue && !scalesWholeTensors(recipe))
        return "cuBLASLt has activation epilogues for scales of whole tensors";
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
    if (!settings.fp8)  // without casts, these are what there is to fuse
        settings.fusions = {.biasEpilogue = settings.fusions.biasEpilogue,
                            .actEpilogue = settings.fusions.actEpilogue,
                            .graph = settings.fusions.graph};
    else
        refuseIllegal(settings.fusions, config.recipe.kind, mode);
    refuseConflicts(settings.fusions, config, mode);
    return settings;
}

}  // namespace fp8scope::plan
