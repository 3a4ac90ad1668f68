// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace fp8scope::cli {

/// The bytes of a file. Throws Error when it cannot be read.
[[nodiscard]] std::string readFile(const std::filesystem::path&);

}  // namespace fp8scope::cli
