// SPDX-License-Identifier: Apache-2.0
// Opening files for a subcommand, with a line of progress on a terminal.
#pragma once

#include "collector/trace/trace.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::cli {

/// "reading  [######----]  412 of 1180 MB"
[[nodiscard]] std::string openProgressLine(std::string_view stage, std::uint64_t done, std::uint64_t total);

/// open::openTrace, kernels classified with a user's own rules first. On a terminal it shows how far it is, for what
/// takes longer than a moment; Ctrl-C ends it, with exit code 1. Errors as open::openTrace.
[[nodiscard]] Trace openWithProgress(std::span<const std::filesystem::path> files,
                                     const std::vector<std::filesystem::path>& rules = {});
[[nodiscard]] Trace openWithProgress(const std::filesystem::path& file,
                                     const std::vector<std::filesystem::path>& rules = {});

}  // namespace fp8scope::cli
