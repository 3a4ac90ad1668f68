// SPDX-License-Identifier: Apache-2.0
// Where a user's own classification rules come from.
#pragma once

#include "app/analysis/classify/kernel_classifier.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fp8scope::open {

/// The rules of `files`, then those of $XDG_CONFIG_HOME/fp8scope/kernel_rules.toml (or ~/.config) where it exists, then
/// the built-in ones. Throws Error for a file that cannot be read or holds no rules.
[[nodiscard]] analysis::KernelClassifier classifierOf(const std::vector<std::filesystem::path>& files);
/// A small file whole: rules, lists of names. Throws Error if it cannot be read.
[[nodiscard]] std::string readText(const std::filesystem::path&);

}  // namespace fp8scope::open
