// SPDX-License-Identifier: Apache-2.0
// A prepared statement for the code that also runs inside the loadable extension, where SQLiteCpp cannot.
#pragma once

#include "collector/trace/slice_catalog.h"
#include "collector/trace/sqlite_api.h"

#include <span>
#include <string>

namespace fp8scope {

class SqliteStatement {
public:
    SqliteStatement(sqlite3* db, const std::string& sql) : m_db(db)
    {
        check(sqlite3_prepare_v2(db, sql.c_str(), -1, &m_statement, nullptr));
    }
    ~SqliteStatement() { sqlite3_finalize(m_statement); }
    SqliteStatement(const SqliteStatement&) = delete;
    SqliteStatement& operator=(const SqliteStatement&) = delete;

    /// True: a row is there.
    bool step()
    {
        const int code = sqlite3_step(m_statement);
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            check(code);
        return code == SQLITE_ROW;
    }
    void reset() { sqlite3_reset(m_statement); }
    void bind(int parameter, std::int64_t value) { check(sqlite3_bind_int64(m_statement, parameter, value)); }

    [[nodiscard]] bool isNull(int column) { return sqlite3_column_type(m_statement, column) == SQLITE_NULL; }
    [[nodiscard]] std::int64_t integer(int column) { return sqlite3_column_int64(m_statement, column); }
    [[nodiscard]] std::string text(int column)
    {
        const auto* const begin = reinterpret_cast<const char*>(sqlite3_column_text(m_statement, column));
        return begin == nullptr
                   ? std::string()
                   : std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column)));
    }
    /// Valid until the next step or reset.
    [[nodiscard]] std::span<const std::byte> blob(int column)
    {
        const auto* const begin = static_cast<const std::byte*>(sqlite3_column_blob(m_statement, column));
        return {begin, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column))};
    }

private:
    void check(int code)
    {
        if (code != SQLITE_OK)
            throw CatalogError(sqlite3_errmsg(m_db));
    }

    sqlite3* m_db;
    sqlite3_stmt* m_statement = nullptr;
};

}  // namespace fp8scope
