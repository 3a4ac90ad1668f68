// SPDX-License-Identifier: Apache-2.0
// The virtual table `slice` without SQLite's callbacks: its columns, what a query wants of it, and the walk over the
// blocks. slice_vtab.cpp makes a SQLite module of it.
#pragma once

#include "collector/trace/slice_catalog.h"
#include "collector/trace/sqlite_statement.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fp8scope::vtab {

struct DeclaredColumn {
    const char* name;
    const char* type;
};
inline constexpr std::array kColumns{DeclaredColumn{"id", "INTEGER"},
                                     DeclaredColumn{"run", "INTEGER"},
                                     DeclaredColumn{"track", "INTEGER"},
                                     DeclaredColumn{"start_ns", "INTEGER"},
                                     DeclaredColumn{"dur_ns", "INTEGER"},
                                     DeclaredColumn{"end_ns", "INTEGER"},
                                     DeclaredColumn{"name", "TEXT"},
                                     DeclaredColumn{"name_id", "INTEGER"},
                                     DeclaredColumn{"kind", "TEXT"},
                                     DeclaredColumn{"role", "TEXT"},
                                     DeclaredColumn{"family", "TEXT"},
                                     DeclaredColumn{"precision", "TEXT"},
                                     DeclaredColumn{"op", "INTEGER"},
                                     DeclaredColumn{"layer", "INTEGER"},
                                     DeclaredColumn{"phase", "TEXT"},
                                     DeclaredColumn{"correlation", "INTEGER"},
                                     DeclaredColumn{"launch_shape", "INTEGER"},
                                     DeclaredColumn{"bytes", "INTEGER"}};
/// In the order of kColumns.
enum SliceColumn : int {
    kId,
    kRun,
    kTrack,
    kStart,
    kDuration,
    kEnd,
    kName,
    kNameId,
    kKind,
    kRole,
    kFamily,
    kPrecision,
    kOp,
    kLayer,
    kPhase,
    kCorrelation,
    kLaunchShape,
    kBytes
};

/// Values from `least` to `most`, both included.
struct Range {
    std::int64_t least = INT64_MIN;
    std::int64_t most = INT64_MAX;

    /// By one of SQLITE_INDEX_CONSTRAINT_EQ, _GT, _GE, _LT, _LE.
    void narrow(unsigned char op, std::int64_t value);
    [[nodiscard]] bool contains(std::int64_t value) const { return value >= least && value <= most; }
    [[nodiscard]] bool meets(std::int64_t low, std::int64_t high) const { return low <= most && high >= least; }
};

/// What a query's constraints leave. Constraints that are not pushed down here SQLite checks itself, as it does these.
struct Wanted {
    Range id, run, track, start, end;

    /// nullptr: the column's comparisons are not pushed down.
    Range* rangeOf(int column);
};

/// Whether the cursor makes use of a comparison of a column.
[[nodiscard]] bool isPushedDown(int column, unsigned char op);

/// What xBestIndex tells xFilter: the columns used (a bit each), and what each argument constrains.
struct Plan {
    std::uint64_t columnsUsed = 0;
    std::vector<std::pair<int, unsigned char>> arguments;

    void use(SliceColumn column) { columnsUsed |= std::uint64_t{1} << column; }
    [[nodiscard]] std::string toText() const;
    static Plan fromText(const char* text);
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
    const std::shared_ptr<const SliceCatalog>& current();
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

}  // namespace fp8scope::vtab
