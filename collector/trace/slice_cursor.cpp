// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/slice_cursor.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace fp8scope::vtab {
namespace {

constexpr std::uint64_t columnBit(int column) { return std::uint64_t{1} << column; }
constexpr std::uint64_t kNameColumns = columnBit(kName) | columnBit(kNameId) | columnBit(kKind) | columnBit(kRole) |
                                       columnBit(kFamily) | columnBit(kPrecision);
constexpr std::uint64_t kOpColumns = columnBit(kOp) | columnBit(kLayer) | columnBit(kPhase);

bool isComparison(unsigned char op)
{
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT ||
           op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT;
}

void resultText(sqlite3_context* context, const std::string& text)
{
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

void Range::narrow(unsigned char op, std::int64_t value)
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

Range* Wanted::rangeOf(int column)
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

bool isPushedDown(int column, unsigned char op) { return isComparison(op) && Wanted{}.rangeOf(column) != nullptr; }

/// Numbers with a blank between them.
std::string Plan::toText() const
{
    std::string text = std::to_string(columnsUsed);
    for (const auto& [column, op] : arguments)
        text += ' ' + std::to_string(column) + ' ' + std::to_string(op);
    return text;
}

Plan Plan::fromText(const char* text)
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

const std::shared_ptr<const SliceCatalog>& SliceTable::current()
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

}  // namespace fp8scope::vtab
