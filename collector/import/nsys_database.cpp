// SPDX-License-Identifier: Apache-2.0
#include "collector/import/nsys_database.h"

#include "collector/trace/error.h"
#include "collector/trace/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fp8scope::import {
namespace {

constexpr int kLongestText = 1 << 24;

/// "file:" and the path with what an URI takes for its own escaped.
std::string uriOf(const std::filesystem::path& path)
{
    std::string uri = "file:";
    for (const char c : path.string()) {
        if (c == '%' || c == '?' || c == '#')
            uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
        else
            uri += c;
    }
    // Immutable: no lock is taken and no journal is looked for, so the file may sit on read-only media.
    return uri + "?mode=ro&immutable=1";
}

std::string identifier(std::string_view name)
{
    std::string text = "\"";
    for (const char c : name) {
        text += c;
        if (c == '"')
            text += c;
    }
    return text + "\"";
}

std::string mendedText(sqlite3_stmt* statement, int column)
{
    const auto* const begin = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    if (begin == nullptr)
        return {};
    return mendedUtf8({begin, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))});
}

/// 2 of "NVTX_EVENTS_V2" for "NVTX_EVENTS", 1 for the name itself, 0 for other names.
int formOf(std::string_view table, std::string_view name)
{
    if (!table.starts_with(name))
        return 0;
    std::string_view rest = table.substr(name.size());
    if (rest.empty())
        return 1;
    if (!rest.starts_with("_V"))
        return 0;
    rest.remove_prefix(2);
    int form = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), form);
    return error == std::errc() && end == rest.data() + rest.size() ? form : 0;
}

}  // namespace

NsysDatabase::NsysDatabase(const std::filesystem::path& path, const ImportOptions& options)
    : m_path(path), m_options(options)
{
    std::error_code error;
    m_fileBytes = std::filesystem::file_size(path, error);
    if (error)
        throw Error("cannot be opened (" + error.message() + ")", path.string(), "check the name and the permissions");
    sqlite3* db = nullptr;
    const int code = sqlite3_open_v2(uriOf(path).c_str(), &db,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
    m_db.reset(db);
    if (code != SQLITE_OK)
        throw Error(fmt::format("cannot be opened ({})", db != nullptr ? sqlite3_errmsg(db) : "out of memory"),
                    path.string(), "check the permissions");
    // A file may bring a schema that runs functions, or texts of a gigabyte.
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestText);
    listTables();
}

void NsysDatabase::listTables()
{
    const auto unreadable = [&] {
        return Error(fmt::format("cannot be read as an SQLite file ({})", sqlite3_errmsg(m_db.get())), m_path.string(),
                     "export it again: nsys export --type sqlite REPORT.nsys-rep");
    };
    // Virtual tables and views are left alone: nsys makes none, and theirs would be somebody's code.
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(m_db.get(),
                           "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND "
                           "name NOT LIKE 'sqlite@_%' ESCAPE '@'",
                           -1, &statement, nullptr) != SQLITE_OK)
        throw unreadable();
    const std::unique_ptr<sqlite3_stmt, Close> owner(statement);
    for (;;) {
        const int code = sqlite3_step(statement);
        if (code == SQLITE_DONE)
            return;
        if (code != SQLITE_ROW)
            throw unreadable();
        m_tables.push_back({mendedText(statement, 0), {}, false});
        if (m_tables.size() > mostRows())
            throw unreadable();
    }
}

const NsysTable* NsysDatabase::find(std::string_view name)
{
    NsysTable* found = nullptr;
    int newest = 0;
    for (NsysTable& table : m_tables) {
        if (const int form = formOf(table.name, name); form > newest) {
            newest = form;
            found = &table;
        }
    }
    if (found == nullptr || !found->columns.empty())
        return found;
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "PRAGMA table_info(" + identifier(found->name) + ")";
    if (sqlite3_prepare_v2(m_db.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        return nullptr;
    const std::unique_ptr<sqlite3_stmt, Close> owner(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        found->columns.push_back(mendedText(statement, 1));
        // The type must be exactly INTEGER for the key to be the row's own number.
        if (found->columns.back() == "id" && sqlite3_column_int(statement, 5) == 1)
            found->keyedById = sqlite3_stricmp(mendedText(statement, 2).c_str(), "INTEGER") == 0;
    }
    return found->columns.empty() ? nullptr : found;
}

std::vector<std::string> NsysDatabase::tableNames() const
{
    std::vector<std::string> names;
    for (const NsysTable& table : m_tables)
        names.push_back(table.name);
    return names;
}

std::uint64_t NsysDatabase::approximateRows(const NsysTable& table)
{
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT max(rowid) FROM " + identifier(table.name);
    if (sqlite3_prepare_v2(m_db.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        return 0;
    const std::unique_ptr<sqlite3_stmt, Close> owner(statement);
    if (sqlite3_step(statement) != SQLITE_ROW)
        return 0;
    const std::int64_t most = sqlite3_column_int64(statement, 0);
    return most > 0 ? std::min(static_cast<std::uint64_t>(most), mostRows()) : 0;
}

void NsysDatabase::loadStrings(const NsysTable& table)
{
    m_strings.emplace();
    try {
        NsysRows rows(*this, table);
        const auto id = rows.column("id");
        const auto value = rows.column("value");
        while (rows.next())
            m_strings->emplace_back(rows.integer(id), rows.text(value));
    } catch (const NsysDamage&) {
        // What was read stays; a name that is missing is counted where it is used.
    }
    std::stable_sort(m_strings->begin(), m_strings->end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::optional<std::string> NsysDatabase::string(std::int64_t id)
{
    const NsysTable* const table = find("StringIds");
    if (table == nullptr)
        return std::nullopt;
    if (!table->keyedById) {
        if (!m_strings)
            loadStrings(*table);
        const auto at = std::lower_bound(m_strings->begin(), m_strings->end(), id,
                                         [](const auto& entry, std::int64_t wanted) { return entry.first < wanted; });
        return at != m_strings->end() && at->first == id ? std::optional(at->second) : std::nullopt;
    }
    if (!m_stringById) {
        sqlite3_stmt* statement = nullptr;
        const std::string sql = "SELECT value FROM " + identifier(table->name) + " WHERE id = ?";
        if (sqlite3_prepare_v2(m_db.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
            return std::nullopt;
        m_stringById.reset(statement);
    }
    sqlite3_bind_int64(m_stringById.get(), 1, id);
    std::optional<std::string> text;
    if (sqlite3_step(m_stringById.get()) == SQLITE_ROW)
        text = mendedText(m_stringById.get(), 0);
    sqlite3_reset(m_stringById.get());
    return text;
}

void NsysDatabase::tick()
{
    if (m_options.stop.stop_requested())
        throw ImportCancelled();
    if (m_options.onProgress)
        m_options.onProgress({"reading", std::min(m_done, m_total), m_total});
}

NsysRows::NsysRows(NsysDatabase& db, const NsysTable& table) : m_db(db), m_table(table) {}

NsysRows::Column NsysRows::column(std::string_view name)
{
    if (std::find(m_table.columns.begin(), m_table.columns.end(), name) == m_table.columns.end())
        return {};
    m_columns += (m_columns.empty() ? "" : ", ") + identifier(name);
    return {m_columnCount++};
}

void NsysRows::prepare()
{
    const std::string sql =
        fmt::format("SELECT {} FROM {}", m_columns.empty() ? "NULL" : m_columns, identifier(m_table.name));
    if (sqlite3_prepare_v2(m_db.handle(), sql.c_str(), -1, &m_statement, nullptr) != SQLITE_OK)
        throw NsysDamage(sqlite3_errmsg(m_db.handle()));
}

bool NsysRows::next()
{
    if (m_statement == nullptr)
        prepare();
    const int code = sqlite3_step(m_statement);
    if (code == SQLITE_DONE)
        return false;
    if (code != SQLITE_ROW)
        throw NsysDamage(sqlite3_errmsg(m_db.handle()));
    if (++m_rows > m_db.mostRows())
        throw NsysDamage("its pages refer to each other in circles");
    m_db.rowDone();
    return true;
}

std::string NsysRows::text(Column c) const { return c.present() ? mendedText(m_statement, c.at) : std::string(); }

}  // namespace fp8scope::import
