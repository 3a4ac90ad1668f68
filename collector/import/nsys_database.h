// SPDX-License-Identifier: Apache-2.0
// An nsys export as an SQLite file that may be of any schema, altered by users, damaged or hostile: tables by name,
// columns by name, rows one after another. SQLite's C functions, because a statement's row is all that there is to do.
#pragma once

#include "collector/import/import.h"

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::import {

/// What SQLite says of a damaged table. Who knows how much of it was read makes a diagnostic of it.
struct NsysDamage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct NsysTable {
    std::string name;
    std::vector<std::string> columns;  ///< empty until asked for by NsysDatabase::find
    bool keyedById = false;            ///< "id" is the table's key: looking up a row by it is cheap
};

class NsysDatabase {
public:
    /// Throws Error if it cannot be opened or its table of tables cannot be read.
    NsysDatabase(const std::filesystem::path&, const ImportOptions&);

    /// The table, or its newest form: later schemas append "_V2", "_V3" to the name. Null where it is not there.
    [[nodiscard]] const NsysTable* find(std::string_view name);
    [[nodiscard]] std::vector<std::string> tableNames() const;
    /// A text of StringIds, mended to UTF-8; nullopt for an id that is not there.
    [[nodiscard]] std::optional<std::string> string(std::int64_t id);
    /// About as many rows as the table has, without counting them.
    [[nodiscard]] std::uint64_t approximateRows(const NsysTable&);

    /// More rows than this cannot be in a file of this size: pages that refer to each other in circles would give them
    /// without end.
    [[nodiscard]] std::uint64_t mostRows() const { return m_fileBytes / 4 + 16; }
    [[nodiscard]] sqlite3* handle() { return m_db.get(); }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

    void expectRows(std::uint64_t total) { m_total = total; }
    /// Called for each row: tells the progress and looks whether to stop, seldom.
    void rowDone()
    {
        if ((++m_done & kTick) == 0)
            tick();
    }

private:
    static constexpr std::uint64_t kTick = 0x3fff;
    struct Close {
        void operator()(sqlite3* db) const { sqlite3_close(db); }
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    void listTables();
    void loadStrings(const NsysTable&);
    void tick();

    std::filesystem::path m_path;
    const ImportOptions& m_options;
    std::uint64_t m_fileBytes = 0;
    std::unique_ptr<sqlite3, Close> m_db;
    std::vector<NsysTable> m_tables;
    std::unique_ptr<sqlite3_stmt, Close> m_stringById;
    std::optional<std::vector<std::pair<std::int64_t, std::string>>> m_strings;  ///< sorted; where there is no key
    std::uint64_t m_done = 0;
    std::uint64_t m_total = 0;
};

/// The rows of a table, in its order. Name the columns, then step.
class NsysRows {
public:
    struct Column {
        int at = -1;
        [[nodiscard]] bool present() const { return at >= 0; }
    };

    NsysRows(NsysDatabase&, const NsysTable&);
    ~NsysRows() { sqlite3_finalize(m_statement); }
    NsysRows(const NsysRows&) = delete;
    NsysRows& operator=(const NsysRows&) = delete;

    /// Before the first next(). A column that the table lacks reads as NULL.
    [[nodiscard]] Column column(std::string_view name);

    /// Throws NsysDamage, ImportCancelled.
    [[nodiscard]] bool next();

    [[nodiscard]] bool isInteger(Column c) const
    {
        return c.present() && sqlite3_column_type(m_statement, c.at) == SQLITE_INTEGER;
    }
    [[nodiscard]] bool isNull(Column c) const
    {
        return !c.present() || sqlite3_column_type(m_statement, c.at) == SQLITE_NULL;
    }
    /// 0 for NULL.
    [[nodiscard]] std::int64_t integer(Column c) const
    {
        return c.present() ? sqlite3_column_int64(m_statement, c.at) : 0;
    }
    [[nodiscard]] std::uint64_t id(Column c) const { return static_cast<std::uint64_t>(integer(c)); }
    [[nodiscard]] double real(Column c) const { return c.present() ? sqlite3_column_double(m_statement, c.at) : 0; }
    /// Mended to UTF-8; empty for NULL.
    [[nodiscard]] std::string text(Column c) const;

private:
    void prepare();

    NsysDatabase& m_db;
    const NsysTable& m_table;
    std::string m_columns;
    int m_columnCount = 0;
    std::uint64_t m_rows = 0;
    sqlite3_stmt* m_statement = nullptr;
};

}  // namespace fp8scope::import
