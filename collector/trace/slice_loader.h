// SPDX-License-Identifier: Apache-2.0
// Loads all column blocks of a trace into its tracks' columns, on several threads.
#pragma once

#include "collector/trace/trace_reader.h"

#include <SQLiteCpp/Database.h>

#include <filesystem>

namespace fp8scope {

/// `trace` has its tables already; its tracks get their slices, sorted, with lanes. `db` is in a read transaction.
/// Throws Error, SQLite::Exception or LoadCancelled.
void loadSlices(const std::filesystem::path& path, SQLite::Database& db, const LoadOptions& options, Trace& trace);

}  // namespace fp8scope
