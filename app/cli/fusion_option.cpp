// SPDX-License-Identifier: Apache-2.0
#include "app/cli/fusion_option.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::cli {
namespace {

/// The preset of fp8-fused, without what was set by hand.
plan::Fusions fusedPreset(const plan::MlpConfig& config)
{
    plan::MlpConfig plain = config;
    plain.fusionOverrides.clear();
    return plan::settingsFor(plain, "fp8-fused").fusions;
}

void set(plan::MlpConfig& config, std::string_view name, std::string_view value)
{
    plan::applySetting(config, fmt::format("fusion.{}", name), value, "--fusion");
}

}  // namespace

void applyFusionWord(plan::MlpConfig& config, std::string_view word)
{
    if (word == "all" || word == "none") {
        const plan::Fusions preset = word == "all" ? fusedPreset(config) : plan::Fusions{};
        for (const plan::FusionSwitch& fusion : plan::fusionSwitches())
            set(config, fusion.name, preset.*fusion.member ? "true" : "false");
        return;
    }
    const std::size_t equals = std::min(word.find('='), word.size());
    set(config, word.substr(0, equals), equals == word.size() ? "true" : word.substr(equals + 1));
}

std::string fusionList(const plan::MlpConfig& config)
{
    const plan::Fusions preset = fusedPreset(config);
    std::string text = fmt::format("fusions, and whether fp8-fused has them with the recipe {}:\n",
                                   plan::toString(config.recipe.kind));
    for (const plan::FusionSwitch& fusion : plan::fusionSwitches()) {
        const std::string_view obstacle = plan::fusionObstacle(fusion, config.recipe.kind);
        text += fmt::format("  {:<26} {:<4} {}{}{}\n", fusion.name, preset.*fusion.member ? "on" : "off",
                            fusion.meaning, obstacle.empty() ? "" : "; not here: ", obstacle);
    }
    return text;
}

}  // namespace fp8scope::cli
