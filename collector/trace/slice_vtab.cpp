// SPDX-License-Identifier: Apache-2.0
// SQLite asks for a plan (xBestIndex), opens a cursor and filters it; the cursor walks the blocks that the constraints
// leave, and decodes of each only the columns that the query uses. No exception leaves a callback: SQLite is C.
#include "collector/trace/slice_vtab.h"

#include "collector/trace/error.h"
#include "collector/trace/slice_catalog.h"
#include "collector/trace/sqlite_statement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>

namespace fp8scope {
namespace {

struct DeclaredColumn {
    const char* name;
    const char* type;
};
constexpr std::array kColumns{
    DeclaredColumn{"id", "INTEGER"},          DeclaredColumn{"run", "INTEGER"},    DeclaredColumn{"track", "INTEGER"},
    DeclaredColumn{"start_ns", "INTEGER"},    DeclaredColumn{"dur_ns", "INTEGER"}, DeclaredColumn{"end_ns", "INTEGER"},
    DeclaredColumn{"name", "TEXT"},           DeclaredColumn{"name_id", "INTEGER"}, DeclaredColumn{"kind", "TEXT"},
    DeclaredColumn{"role", "TEXT"},           DeclaredColumn{"family", "TEXT"},    DeclaredColumn{"precision", "TEXT"},
    DeclaredColumn{"op", "INTEGER"},          DeclaredColumn{"layer", "INTEGER"},  DeclaredColumn{"phase", "TEXT"},
    DeclaredColumn{"correlation", "INTEGER"}, DeclaredColumn{"launch_shape", "INTEGER"}, DeclaredColumn{"bytes", "INTEGER"}};
/// In the order of kColumns.
enum SliceColumn : int {
    kId, kRun, kTrack, kStart, kDuration, kEnd, kName, kNameId, kKind,
    kRole, kFamily, kPrecision, kOp, kLayer, kPhase, kCorrelation, kLaunchShape, kBytes
};

constexpr std::uint64_t columnBit(int column) { return std::uint64_t{1} << column; }
constexpr std::uint64_t kNameColumns = columnBit(kName) | columnBit(kNameId) | columnBit(kKind) | columnBit(kRole) |
                                       columnBit(kFamily) | columnBit(kPrecision);
constexpr std::uint64_t kOpColumns = columnBit(kOp) | columnBit(kLayer) | columnBit(kPhase);

/// Values from `least` to `most`, both included.
struct Range {
    std::int64_t least = INT64_MIN;
    std::int64_t most = INT64_MAX;

    void narrow(unsigned char op, std::int64_t value)
    {
        if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE)
            least = std::max(least, value);
        if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE)
            most = std::min(most, value);
        if (op == SQLITE_INDEX_CONSTRAINT_GT)
            least = std::max(least, value < INT64_MAX ? value + 1 : value);
        if (op == SQLITE_INDEX_CONSTRAINT_LT)
            most = std::min(most, value > INT64_MIN ? value - 1 : value);
    }
    [[nodiscard]] bool contains(std::int64_t value) const { return value >= least && value <= most; }
    [[nodiscard]] bool meets(std::int64_t low, std::int64_t high) const { return low <= most && high >= least; }
};

/// What a query's constraints leave. Constraints that are not pushed down here SQLite checks itself, as it does these.
struct Wanted {
    Range id, run, track, start, end;

    Range* rangeOf(int column)
    {
        switch (column) {
        case kId: return &id;
        case kRun: return &run;
        case kTrack: return &track;
        case kStart: return &start;
        case kEnd: return &end;
        default: return nullptr;
        }
    }
};

bool isPushedDown(int column, unsigned char op)
{
    const bool comparison = op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE ||
                            op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_LE ||
                            op == SQLITE_INDEX_CONSTRAINT_LT;
    return comparison && Wanted{}.rangeOf(column) != nullptr;
}

/// What xBestIndex tells xFilter: the columns used, and what each argument constrains.
struct Plan {
    std::uint64_t columnsUsed = 0;
    std::vector<std::pair<int, unsigned char>> arguments;

    [[nodiscard]] char* toText() const
    {
        std::string text = std::to_string(columnsUsed);
        for (const auto& [column, op] : arguments)
            text += ' ' + std::to_string(column) + ' ' + std::to_string(op);
        return sqlite3_mprintf("%s", text.c_str());
    }
    static Plan fromText(const char* text)
    {
        const char* const end = text + std::strlen(text);
        const auto next = [&](auto value) {
            text = std::from_chars(text, end, value).ptr;
            text += text < end ? 1 : 0;
            return value;
        };
        Plan plan;
        plan.columnsUsed = next(std::uint64_t{0});
        while (text < end) {
            const int column = next(0);
            plan.arguments.emplace_back(column, next(static_cast<unsigned char>(0)));
        }
        return plan;
    }
};

/// The table of one connection. SQLite knows it by its first part.
struct SliceTable : sqlite3_vtab {
    sqlite3* db = nullptr;
    std::string schema;
    std::shared_ptr<const SliceCatalog> catalog;
    std::unique_ptr<SqliteStatement> dataVersion;
    std::int64_t catalogVersion = 0;
    std::int64_t catalogChanges = 0;

    /// The catalogue as of now: read again when another connection, or this one, has changed the file.
    const std::shared_ptr<const SliceCatalog>& current()
    {
        dataVersion->reset();
        dataVersion->step();
        const std::int64_t version = dataVersion->integer(0);
        dataVersion->reset();
        const std::int64_t changes = sqlite3_total_changes(db);
        if (!catalog || version != catalogVersion || changes != catalogChanges) {
            catalog = std::make_shared<const SliceCatalog>(readSliceCatalog(db, schema));
            catalogVersion = version;
            catalogChanges = changes;
        }
        return catalog;
    }
};

/// One walk over the slices.
struct SliceCursor : sqlite3_vtab_cursor {
    SliceTable* table = nullptr;
    std::shared_ptr<const SliceCatalog> catalog;
    std::unique_ptr<SqliteStatement> readBlock;
    BlockDecoder decoder;
    Wanted wanted;
    std::uint64_t columnsUsed = 0;
    std::size_t block = 0;  ///< catalog->blocks.size(): at the end
    bool isDecoded = false;
    std::uint32_t index = 0;
    std::vector<std::int64_t> startNs, durNs;
    std::vector<NameId> name;
    std::vector<OpId> op;
    std::vector<std::uint64_t> correlation, bytes;
    std::vector<LaunchShapeId> launchShape;

    [[nodiscard]] const SliceCatalog::Block& at() const { return catalog->blocks[block]; }
    [[nodiscard]] bool atEnd() const { return block == catalog->blocks.size(); }
    [[nodiscard]] std::int64_t rowId() const { return at().id << 16 | index; }

    void filter(const Plan& plan, sqlite3_value** arguments);
    void seek();
    void decodeBlock();
    void next()
    {
        ++index;
        seek();
    }
    void result(sqlite3_context* context, int column) const;
    [[nodiscard]] bool blockMayMatch() const;
};

void SliceCursor::filter(const Plan& plan, sqlite3_value** arguments)
{
    catalog = table->current();
    columnsUsed = plan.columnsUsed;
    wanted = {};
    for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
        const auto& [column, comparison] = plan.arguments[i];
        if (sqlite3_value_type(arguments[i]) == SQLITE_INTEGER)  // others SQLite compares itself
            wanted.rangeOf(column)->narrow(comparison, sqlite3_value_int64(arguments[i]));
    }
    block = 0;
    isDecoded = false;
    seek();
}

bool SliceCursor::blockMayMatch() const
{
    const SliceCatalog::Block& b = at();
    return wanted.track.contains(b.track) && wanted.run.contains(catalog->trackRuns[b.track]) &&
           wanted.id.meets(b.id << 16, (b.id << 16) + 0xffff) && wanted.start.meets(b.row.firstNs, b.row.lastNs) &&
           wanted.end.meets(b.row.firstNs, b.row.lastNs);
}

/// From `block` and `index` on, the first slice that may be wanted.
void SliceCursor::seek()
{
    for (; !atEnd(); ++block, isDecoded = false) {
        if (!isDecoded) {
            if (!blockMayMatch())
                continue;
            decodeBlock();
            isDecoded = true;
            index = 0;
        }
        for (; index < at().row.n; ++index) {
            const bool timesFit = startNs.empty() || (wanted.start.contains(startNs[index]) &&
                                                      wanted.end.contains(startNs[index] + durNs[index]));
            if (timesFit && wanted.id.contains(rowId()))
                return;
        }
    }
}

void SliceCursor::decodeBlock()
{
    if (!readBlock)
        readBlock = std::make_unique<SqliteStatement>(table->db, "SELECT data FROM " + quotedIdentifier(table->schema) +
                                                                     ".slice_block WHERE id = ?");
    const BlockRow& row = at().row;
    const auto room = [&](auto& column, std::uint64_t users) {
        column.resize((columnsUsed & users) != 0 ? row.n : 0);
        return column.empty() ? nullptr : column.data();
    };
    constexpr std::uint64_t kTimes = columnBit(kStart) | columnBit(kDuration) | columnBit(kEnd);
    const BlockTarget target{room(startNs, kTimes),
                             room(durNs, kTimes),
                             room(name, kNameColumns),
                             room(op, kOpColumns),
                             room(correlation, columnBit(kCorrelation)),
                             room(launchShape, columnBit(kLaunchShape)),
                             room(bytes, columnBit(kBytes))};
    readBlock->reset();
    readBlock->bind(1, at().id);
    if (!readBlock->step())
        throw CatalogError("slice block " + std::to_string(at().id) + " is gone");
    try {
        decoder.decode(readBlock->blob(0), row, catalog->limits(), target);
    } catch (const BadBlock& e) {
        throw CatalogError("slice block " + std::to_string(at().id) + " " + e.what());
    }
    readBlock->reset();
}

void resultText(sqlite3_context* context, const std::string& text)
{
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Columns whose "none" is NULL leave the result as it is: SQLite begins with NULL.
void SliceCursor::result(sqlite3_context* context, int column) const
{
    const auto integer = [context](auto value) { sqlite3_result_int64(context, static_cast<std::int64_t>(value)); };
    switch (column) {
    case kId: return integer(rowId());
    case kRun: return integer(catalog->trackRuns[at().track]);
    case kTrack: return integer(at().track);
    case kStart: return integer(startNs[index]);
    case kDuration: return integer(durNs[index]);
    case kEnd: return integer(startNs[index] + durNs[index]);
    case kName: return resultText(context, catalog->names[name[index].value].text);
    case kNameId: return integer(name[index].value);
    case kKind: return resultText(context, catalog->names[name[index].value].kind);
    case kRole: return resultText(context, catalog->names[name[index].value].role);
    case kFamily: return resultText(context, catalog->names[name[index].value].family);
    case kPrecision: return resultText(context, catalog->names[name[index].value].precision);
    case kOp:
        if (op[index].valid())
            integer(op[index].value);
        return;
    case kLayer:
        if (op[index].valid() && catalog->ops[op[index].value].layer)
            integer(*catalog->ops[op[index].value].layer);
        return;
    case kPhase:
        if (op[index].valid())
            resultText(context, catalog->ops[op[index].value].phase);
        return;
    case kCorrelation:
        if (correlation[index] != 0)
            integer(correlation[index]);
        return;
    case kLaunchShape:
        if (launchShape[index].valid())
            integer(launchShape[index].value);
        return;
    case kBytes:
        if ((at().row.columns & bit(BlockColumn::Bytes)) != 0)
            integer(bytes[index]);
        return;
    default: return;
    }
}

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
                plan.columnsUsed |= columnBit(kStart);  // to compare within a block
            if (constraint.op == SQLITE_INDEX_CONSTRAINT_EQ)
                rows /= column == kTrack ? static_cast<double>(catalog.trackRuns.size()) + 1
                        : column == kRun ? 2
                                         : 1000;
            else
                rows /= 3;
        }
        info->estimatedCost = rows * 10;
        info->estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
        info->idxStr = plan.toText();
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
