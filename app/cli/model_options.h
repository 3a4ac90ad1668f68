// SPDX-License-Identifier: Apache-2.0
// Which model is trained, or predicted: a preset or a file, and single keys over it.
#pragma once

#include "engine/plan/config.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace fp8scope::cli {

struct ModelOptions {
    std::filesystem::path config;
    std::string preset;
    std::vector<std::pair<std::string, std::string>> settings;  ///< key, value, in the order given
    std::vector<std::string> fusions;                           ///< words of --fusion, likewise
};

/// --preset, --config, --widths, --modes, --batch, ... --set. `options` must outlive the parsing.
void addModelOptions(CLI::App& command, ModelOptions& options);
/// An option that sets one key of the configuration.
void addSetting(CLI::App& command, ModelOptions& options, const std::string& flags, const std::string& key,
                const std::string& help, const std::string& placeholder);

/// The configuration asked for; the default one without preset, file and options. Throws Error for a wrong key or
/// value.
[[nodiscard]] plan::MlpConfig configOf(const ModelOptions&);

}  // namespace fp8scope::cli
