// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of PyTorch's profiler of every generation, and any other Trace Event JSON (the format of
// chrome://tracing).
#pragma once

#include "collector/import/byte_source.h"
#include "collector/import/import.h"
#include "collector/import/raw_events.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace fp8scope::import {

/// Reads a file as a stream: its text is never in memory as a whole. `name` is for errors and Run::mode. Throws Error
/// where there is no event to be had, ImportCancelled; what is broken is mended or counted in the diagnostics.
[[nodiscard]] RawEvents readKineto(ByteSource& source, std::string name, const ImportOptions& options = {});
/// The same for text in memory.
[[nodiscard]] RawEvents readKineto(std::string_view json, std::string name, const ImportOptions& options = {});

/// Bytes of text that one thread parses at a time; tests make it small to cut everywhere.
inline constexpr std::size_t kKinetoBlockBytes = std::size_t{512} << 10;
[[nodiscard]] RawEvents readKineto(ByteSource& source, std::string name, const ImportOptions& options,
                                   std::size_t blockBytes);

}  // namespace fp8scope::import
