// SPDX-License-Identifier: Apache-2.0
// What the engine said on its standard error before it gave up.
#pragma once

#include <filesystem>
#include <string>

namespace fp8scope::session {

/// The last line of the engine's output, without the program's name before it.
[[nodiscard]] std::string engineComplaint(const std::filesystem::path& output);

}  // namespace fp8scope::session
