// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/slice_catalog.h"

#include "collector/trace/sqlite_statement.h"
#include "collector/trace/words.h"

namespace fp8scope {
namespace {

class CatalogReader {
public:
    CatalogReader(sqlite3* db, const std::string& schema) : m_db(db), m_prefix(quotedIdentifier(schema) + '.') {}

    SliceCatalog read()
    {
        rows("run", "track", [this](SqliteStatement& row) { m_catalog.trackRuns.push_back(row.integer(1)); });
        rows("text, kind, role, precision", "name", [this](SqliteStatement& row) { addName(row); });
        rows("layer, phase", "op", [this](SqliteStatement& row) {
            m_catalog.ops.push_back({row.isNull(1) ? std::nullopt : std::optional(row.integer(1)), row.text(2)});
        });
        rows("id", "launch_shape", [this](SqliteStatement&) { ++m_catalog.launchShapes; });
        readBlocks();
        return std::move(m_catalog);
    }

private:
    /// Calls add(row) for each row of a table whose ids must be 0, 1, 2, ...; column 0 is the id.
    template <typename Add>
    void rows(const std::string& columns, const std::string& table, Add add)
    {
        SqliteStatement row(m_db, "SELECT id, " + columns + " FROM " + m_prefix + table + " ORDER BY id");
        for (std::int64_t expected = 0; row.step(); ++expected) {
            if (row.integer(0) != expected)
                throw CatalogError("table '" + table + "' has row " + std::to_string(row.integer(0)) + " where row " +
                                   std::to_string(expected) + " should be");
            add(row);
        }
    }

    void addName(SqliteStatement& row)
    {
        SliceCatalog::NameRow name{row.text(1), row.text(2), row.text(3), {}, row.text(4)};
        name.family = toString(familyOf(roleFromString(name.role).value_or(Role::Other),
                                        precisionFromString(name.precision).value_or(Precision::Unknown)));
        m_catalog.names.push_back(std::move(name));
    }

    void readBlocks()
    {
        SqliteStatement row(m_db, "SELECT id, track, n, columns, first_ns, last_ns FROM " + m_prefix +
                                      "slice_block ORDER BY id");
        while (row.step()) {
            const std::int64_t id = row.integer(0);
            const std::int64_t track = row.integer(1);
            const std::int64_t n = row.integer(2);
            const std::int64_t columns = row.integer(3);
            const bool holds = id >= 0 && id < INT64_MAX >> 16 && track >= 0 &&
                               track < static_cast<std::int64_t>(m_catalog.trackRuns.size()) && n >= 1 &&
                               n <= static_cast<std::int64_t>(kMaxBlockSlices) && columns >> kBlockColumnCount == 0;
            if (!holds)
                throw CatalogError("slice block " + std::to_string(id) + " claims what cannot be");
            m_catalog.blocks.push_back(
                {id,
                 static_cast<std::uint32_t>(track),
                 {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(columns), row.integer(4), row.integer(5)}});
            m_catalog.sliceCount += static_cast<std::uint64_t>(n);
        }
    }

    sqlite3* m_db;
    std::string m_prefix;
    SliceCatalog m_catalog;
};

}  // namespace

std::string quotedIdentifier(const std::string& name)
{
    std::string quoted = "\"";
    for (const char c : name)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

SliceCatalog readSliceCatalog(sqlite3* db, const std::string& schema) { return CatalogReader(db, schema).read(); }

}  // namespace fp8scope
