// SPDX-License-Identifier: Apache-2.0
// The virtual table `slice`: the column blocks as rows for SQL. Its columns: resources/help/trace-format.md.
#pragma once

struct sqlite3;

namespace fp8scope {

/// Makes `slice` known to a connection whose main database is a trace. Comparisons of id, run, track, start_ns and
/// end_ns with constants are answered from the blocks' index, and only the columns that a query names are decoded.
/// Throws Error.
void registerSliceTable(sqlite3* db);

/// The same for C: gives a SQLite result code.
int createSliceModule(sqlite3* db) noexcept;

}  // namespace fp8scope
