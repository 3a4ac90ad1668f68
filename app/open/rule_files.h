// SPDX-License-Identifier: Apache-2.0
// Where a user's own classification rules come from.
#pragma once

#include "app/analysis/classify/kernel_classifier.h"

#include <filesystem>
#include <vector>

namespace fp8scope::open {

/// The rules of `files`, then those of $XDG_CONFIG_HOME/fp8scope/kernel_rules.toml (or ~/.config) where it exists, then
/// the built-in ones. Throws Error for a file that cannot be read or holds no rules.
[[nodiscard]] analysis::KernelClassifier classifierOf(const std::vector<std::filesystem::path>& files);

}  // namespace fp8scope::open
