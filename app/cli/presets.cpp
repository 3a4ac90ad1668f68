// SPDX-License-Identifier: Apache-2.0
#include "app/cli/presets.h"

#include "app/cli/embedded_presets.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

namespace fp8scope::cli {

std::string_view presetToml(std::string_view name)
{
    for (const EmbeddedPreset& preset : kEmbeddedPresets) {
        if (preset.name == name)
            return preset.toml;
    }
    throw Error(fmt::format("there is no preset '{}'", name), "--preset", "presets are: " + presetNames());
}

std::string presetNames()
{
    std::string names;
    for (const EmbeddedPreset& preset : kEmbeddedPresets)
        names += (names.empty() ? "" : ", ") + std::string(preset.name);
    return names;
}

}  // namespace fp8scope::cli
