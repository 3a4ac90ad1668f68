// SPDX-License-Identifier: Apache-2.0
// The presets of resources/presets, built into the program so that it needs no data files.
#pragma once

#include <string>
#include <string_view>

namespace fp8scope::cli {

/// The preset's TOML. Throws Error, naming the presets, when there is none of that name.
[[nodiscard]] std::string_view presetToml(std::string_view name);
/// "demo, wide": for help.
[[nodiscard]] std::string presetNames();

}  // namespace fp8scope::cli
