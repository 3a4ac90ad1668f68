// SPDX-License-Identifier: Apache-2.0
// SQLite asks for a plan (xBestIndex), opens a cursor and filters it, and the cursor walks the blocks that the
// constraints leave. No exception leaves a callback: SQLite is C.
#include "collector/trace/slice_vtab.h"

#include "collector/trace/error.h"
#include "collector/trace/slice_cursor.h"

#include <memory>
#include <new>
#include <string>

namespace fp8scope {
namespace {

using namespace vtab;

/// Runs a callback's body; what it throws becomes the query's error.
template <typename Body>
int guarded(sqlite3_vtab* table, Body&& body) noexcept
{
    try {
        body();
        return SQLITE_OK;
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (const std::exception& e) {
        sqlite3_free(table->zErrMsg);
        table->zErrMsg = sqlite3_mprintf("slice: %s", e.what());
        return SQLITE_ERROR;
    }
}

SliceTable& asTable(sqlite3_vtab* table) { return *static_cast<SliceTable*>(table); }
SliceCursor& asCursor(sqlite3_vtab_cursor* cursor) { return *static_cast<SliceCursor*>(cursor); }

std::string declaration()
{
    std::string sql;
    for (const auto& [name, type] : kColumns)
        sql += (sql.empty() ? "CREATE TABLE slice(" : ", ") + std::string(name) + ' ' + type;
    return sql + ')';
}

int xConnect(sqlite3* db, void*, int, const char* const* arguments, sqlite3_vtab** made, char** message)
{
    try {
        sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);  // the trace's own views may use it
        const int code = sqlite3_declare_vtab(db, declaration().c_str());
        if (code != SQLITE_OK)
            return code;
        auto table = std::make_unique<SliceTable>();
        table->db = db;
        table->schema = arguments[1];
        table->dataVersion = std::make_unique<SqliteStatement>(db, "PRAGMA data_version");
        *made = table.release();
        return SQLITE_OK;
    } catch (const std::exception& e) {
        *message = sqlite3_mprintf("slice: %s", e.what());
        return SQLITE_ERROR;
    }
}

int xDisconnect(sqlite3_vtab* table)
{
    delete &asTable(table);
    return SQLITE_OK;
}

int xBestIndex(sqlite3_vtab* table, sqlite3_index_info* info)
{
    return guarded(table, [&] {
        const SliceCatalog& catalog = *asTable(table).current();
        Plan plan{.columnsUsed = info->colUsed};
        double rows = static_cast<double>(catalog.sliceCount) + 1;
        for (int i = 0; i < info->nConstraint; ++i) {
            const auto& constraint = info->aConstraint[i];
            const int column = constraint.iColumn < 0 ? kId : constraint.iColumn;
            if (constraint.usable == 0 || !isPushedDown(column, constraint.op))
                continue;
            plan.arguments.emplace_back(column, constraint.op);
            info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.arguments.size());
            if (column == kStart || column == kEnd)
                plan.use(kStart);  // to compare within a block
            if (constraint.op == SQLITE_INDEX_CONSTRAINT_EQ)
                rows /= column == kTrack ? static_cast<double>(catalog.trackRuns.size()) + 1
                        : column == kRun ? 2
                                         : 1000;
            else
                rows /= 3;
        }
        info->estimatedCost = rows * 10;
        info->estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
        info->idxStr = sqlite3_mprintf("%s", plan.toText().c_str());
        info->needToFreeIdxStr = 1;
        if (info->idxStr == nullptr)
            throw std::bad_alloc();
    });
}

int xOpen(sqlite3_vtab* table, sqlite3_vtab_cursor** made)
{
    return guarded(table, [&] {
        auto cursor = std::make_unique<SliceCursor>();
        cursor->table = &asTable(table);
        *made = cursor.release();
    });
}

int xClose(sqlite3_vtab_cursor* cursor)
{
    delete &asCursor(cursor);
    return SQLITE_OK;
}

int xFilter(sqlite3_vtab_cursor* cursor, int, const char* plan, int, sqlite3_value** arguments)
{
    return guarded(cursor->pVtab, [&] { asCursor(cursor).filter(Plan::fromText(plan), arguments); });
}

int xNext(sqlite3_vtab_cursor* cursor)
{
    return guarded(cursor->pVtab, [&] { asCursor(cursor).next(); });
}

int xEof(sqlite3_vtab_cursor* cursor) { return asCursor(cursor).atEnd() ? 1 : 0; }

int xColumn(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column)
{
    return guarded(cursor->pVtab, [&] { asCursor(cursor).result(context, column); });
}

int xRowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id)
{
    *id = asCursor(cursor).rowId();
    return SQLITE_OK;
}

/// Without xCreate the table is eponymous: it is there as soon as the module is known.
sqlite3_module sliceModule()
{
    sqlite3_module module{};
    module.iVersion = 0;
    module.xConnect = xConnect;
    module.xBestIndex = xBestIndex;
    module.xDisconnect = xDisconnect;
    module.xOpen = xOpen;
    module.xClose = xClose;
    module.xFilter = xFilter;
    module.xNext = xNext;
    module.xEof = xEof;
    module.xColumn = xColumn;
    module.xRowid = xRowid;
    return module;
}

}  // namespace

int createSliceModule(sqlite3* db) noexcept
{
    static const sqlite3_module module = sliceModule();
    return sqlite3_create_module_v2(db, "slice", &module, nullptr, nullptr);
}

void registerSliceTable(sqlite3* db)
{
    const int code = createSliceModule(db);
    if (code != SQLITE_OK)
        throw Error(std::string("the table of slices cannot be made (") + sqlite3_errstr(code) + ')', {}, {});
}

}  // namespace fp8scope
