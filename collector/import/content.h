// SPDX-License-Identifier: Apache-2.0
// What a stream is, by its beginning: shared by files on disk and members of archives.
#pragma once

#include "collector/import/byte_source.h"
#include "collector/import/import.h"

namespace fp8scope::import {

/// Reads on until the kind is clear: of JSON up to its events, of anything else some kilobytes. SQLite is given as
/// Unknown with `what` "an SQLite file", as its tables decide, which need a file. `what` and `mend` of an archive do
/// not name its members. `gzip` is not set.
[[nodiscard]] Recognized recognizeContent(ByteSource&);

inline constexpr const char* kSqliteFile = "an SQLite file";

/// Files that only look like traces, by how they begin; `opens()` of no such file. Unknown and empty if none is known.
[[nodiscard]] Recognized recognizeNeighbour(std::string_view head);
/// The same for the keys of a JSON object that holds no traceEvents.
[[nodiscard]] Recognized recognizeJsonNeighbour(const std::vector<std::string>& keys);

}  // namespace fp8scope::import
