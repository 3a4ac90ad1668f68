// SPDX-License-Identifier: Apache-2.0
// A Trace as other tools' files, so that nobody is locked in: what each format holds is told in
// resources/help/export.md.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace fp8scope::exporter {

enum class Format : std::uint8_t {
    ChromeJson,  ///< Trace Event Format as PyTorch's profiler writes it: Perfetto, chrome://tracing, HTA, fp8scope
    Csv,         ///< a row a slice
    NsysSqlite,  ///< the tables of `nsys export --type sqlite` that scripts query
};

/// What a piece of device work counts as. Decided by the analysis, so that a file says what the app says.
struct WorkKind {
    Role role = Role::Other;
    Family family = Family::Unknown;
};

struct ExportOptions {
    std::vector<RunId> runs;  ///< only these; empty: all
    std::string writer;       ///< program and version, named in the file
    /// Of a slice's op (may be none()) and name; without it the name alone decides.
    std::function<WorkKind(OpId, NameId)> kindOf;
};

/// Writes the file; one that ends in ".gz" is compressed (not SQLite). It appears under its name when it is whole, in
/// place of one that was there. Needs little memory beside the trace. Times are exact to the nanosecond. Throws Error
/// when it cannot be written.
void exportTrace(const Trace&, Format, const std::filesystem::path&, const ExportOptions& = {});

}  // namespace fp8scope::exporter
