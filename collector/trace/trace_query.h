// SPDX-License-Identifier: Apache-2.0
// SQL over a trace, for `fp8scope query` and the app: reads only, whatever the statement says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace fp8scope {

/// A value of SQL: NULL, integer, real or text (UTF-8). A blob comes as the text of its literal, x'0a1b'.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryOptions {
    std::size_t rowLimit = 0;  ///< 0: all rows
    std::stop_token stop;
};

struct QueryResult {
    std::vector<std::string> columns;
    std::vector<std::vector<SqlValue>> rows;
    bool truncated = false;  ///< there are more rows than the limit
};

/// Thrown when QueryOptions::stop was requested.
struct QueryCancelled {};

/// A trace open for questions: its tables, views and the virtual table `slice`. One thread at a time.
class TraceQuery {
public:
    /// Throws the Errors of loadTrace for a file that is no whole trace.
    explicit TraceQuery(const std::filesystem::path& path);
    ~TraceQuery();
    TraceQuery(const TraceQuery&) = delete;
    TraceQuery& operator=(const TraceQuery&) = delete;

    /// Runs one SELECT (or WITH, VALUES, EXPLAIN, or a PRAGMA that tells of tables). Throws Error for SQL that is
    /// wrong, is more than one statement, would change anything, or meets a damaged block; QueryCancelled on a stop.
    [[nodiscard]] QueryResult run(const std::string& sql, const QueryOptions& options = {});

    /// The same without keeping the rows: `onColumns` once, then `onRow` for each row until it gives false.
    /// Gives whether rows were left over.
    bool run(const std::string& sql, const QueryOptions& options,
             const std::function<void(const std::vector<std::string>&)>& onColumns,
             const std::function<bool(const std::vector<SqlValue>&)>& onRow);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace fp8scope
