// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/trace_query.h"

#include "collector/trace/error.h"
#include "collector/trace/slice_vtab.h"
#include "collector/trace/trace_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace fp8scope {
namespace {

constexpr int kInstructionsBetweenStops = 10'000;  // about 0.1 ms of SQLite's virtual machine
constexpr const char* kSqlMend = "the tables and their columns are described in the help page 'trace-format'";

bool isTellingPragma(std::string_view name)
{
    constexpr std::array<std::string_view, 8> kTelling{"table_info",   "table_xinfo",  "table_list",
                                                       "index_list",   "user_version", "application_id",
                                                       "data_version", "function_list"};
    return std::find(kTelling.begin(), kTelling.end(), name) != kTelling.end();
}

/// Reading, and nothing else: no ATTACH, no file functions, no pragma that sets something.
int authorize(void*, int action, const char* first, const char* second, const char*, const char*)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return std::strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return first != nullptr && isTellingPragma(first) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

SqlValue valueOf(sqlite3_stmt* row, int column)
{
    const auto bytes = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(row, column)); };
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(row, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(row, column);
    case SQLITE_TEXT: {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
        return std::string(text, bytes());
    }
    case SQLITE_BLOB: {
        const auto* const blob = static_cast<const unsigned char*>(sqlite3_column_blob(row, column));
        return fmt::format("x'{:02x}'", fmt::join(blob, blob + bytes(), ""));
    }
    default: return std::monostate{};
    }
}

/// Whether only blanks, comments and semicolons follow the statement: SQLite prepares such a tail to nothing.
bool isBlank(sqlite3* db, const char* tail)
{
    while (*tail != '\0') {
        sqlite3_stmt* more = nullptr;
        const char* rest = tail;
        const bool nothing = sqlite3_prepare_v2(db, tail, -1, &more, &rest) == SQLITE_OK && more == nullptr;
        sqlite3_finalize(more);
        if (!nothing)
            return false;
        if (rest == tail)
            break;
        tail = rest;
    }
    return true;
}

}  // namespace

struct TraceQuery::Impl {
    std::filesystem::path path;
    SQLite::Database db;

    explicit Impl(const std::filesystem::path& file) : path(file), db(openTraceFile(file)) {}

    [[nodiscard]] sqlite3* handle() const { return db.getHandle(); }

    [[noreturn]] void fail(int code) const
    {
        switch (code & 0xff) {
        case SQLITE_AUTH: throw Error("a query may only read the trace", path.string(), "ask with SELECT");
        case SQLITE_ERROR: throw Error(sqlite3_errmsg(handle()), "SQL", kSqlMend);
        default: throw traceFileError(path, SQLite::Exception(handle(), code), "be read");
        }
    }

    /// The one statement of `sql`. Its owner finalizes it.
    [[nodiscard]] std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> prepare(const std::string& sql) const
    {
        sqlite3_stmt* statement = nullptr;
        const char* tail = nullptr;
        const int code = sqlite3_prepare_v2(handle(), sql.c_str(), -1, &statement, &tail);
        std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> owner(statement, sqlite3_finalize);
        if (code != SQLITE_OK)
            fail(code);
        if (statement == nullptr)
            throw Error("there is no statement", "SQL", "ask with SELECT");
        if (!isBlank(handle(), tail))
            throw Error("there is more than one statement", "SQL", "ask one at a time");
        if (sqlite3_stmt_readonly(statement) == 0)
            throw Error("a query may only read the trace", path.string(), "ask with SELECT");
        return owner;
    }
};

TraceQuery::TraceQuery(const std::filesystem::path& path) : m_impl(std::make_unique<Impl>(path))
{
    registerSliceTable(m_impl->handle());
    (void)m_impl->prepare(
        "SELECT id FROM slice");  // connects the table: the authorizer would not let it declare its columns
    sqlite3_set_authorizer(m_impl->handle(), authorize, nullptr);
}

TraceQuery::~TraceQuery() = default;

bool TraceQuery::run(const std::string& sql, const QueryOptions& options,
                     const std::function<void(const std::vector<std::string>&)>& onColumns,
                     const std::function<bool(const std::vector<SqlValue>&)>& onRow)
{
    const auto statement = m_impl->prepare(sql);
    const auto isStopping = [](void* stop) {
        return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
    };
    std::stop_token stop = options.stop;
    sqlite3_progress_handler(m_impl->handle(), kInstructionsBetweenStops, isStopping, &stop);
    const std::unique_ptr<sqlite3, void (*)(sqlite3*)> noHandlerAfterwards(
        m_impl->handle(), [](sqlite3* db) { sqlite3_progress_handler(db, 0, nullptr, nullptr); });

    const int columnCount = sqlite3_column_count(statement.get());
    std::vector<std::string> columns;
    for (int c = 0; c < columnCount; ++c)
        columns.emplace_back(sqlite3_column_name(statement.get(), c));
    onColumns(columns);
    std::vector<SqlValue> row(static_cast<std::size_t>(columnCount));
    for (std::size_t rows = 0;; ++rows) {
        const int code = stop.stop_requested() ? SQLITE_INTERRUPT : sqlite3_step(statement.get());
        if (code == SQLITE_DONE)
            return false;
        if (code == SQLITE_INTERRUPT)
            throw QueryCancelled{};
        if (code != SQLITE_ROW)
            m_impl->fail(code);
        if (options.rowLimit > 0 && rows == options.rowLimit)
            return true;
        for (int c = 0; c < columnCount; ++c)
            row[static_cast<std::size_t>(c)] = valueOf(statement.get(), c);
        if (!onRow(row))
            return true;
    }
}

QueryResult TraceQuery::run(const std::string& sql, const QueryOptions& options)
{
    QueryResult result;
    result.truncated = run(
        sql, options, [&](const std::vector<std::string>& columns) { result.columns = columns; },
        [&](const std::vector<SqlValue>& row) {
            result.rows.push_back(row);
            return true;
        });
    return result;
}

}  // namespace fp8scope
