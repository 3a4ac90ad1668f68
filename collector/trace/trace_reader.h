// SPDX-License-Identifier: Apache-2.0
// Loads a `.fp8trace` file into columns.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace fp8scope {

struct LoadProgress {
    std::string stage;       ///< "tables", "slices", "lanes"
    std::uint64_t done = 0;  ///< of `total`, in slices
    std::uint64_t total = 0;
};

struct LoadOptions {
    std::function<void(const LoadProgress&)>
        onProgress;  ///< called from the loading thread, at least every 50 ms of work
    std::stop_token stop;
    unsigned threads = 0;  ///< decompression threads; 0: as many as cores
};

/// Thrown when LoadOptions::stop was requested.
struct LoadCancelled {};

/// Reads a whole trace. A file being written can be read: it gives what was flushed. Throws Error, naming file, place
/// and mend, if the file is missing, empty, not SQLite, not a trace, of a newer version (both versions named),
/// truncated, or holds an id or range that does not hold. Never crashes on a hostile file.
[[nodiscard]] Trace loadTrace(const std::filesystem::path&, const LoadOptions& = {});

}  // namespace fp8scope
