// SPDX-License-Identifier: Apache-2.0
// What the virtual table `slice` knows besides the blocks themselves: where each block lies in time, and what ids stand
// for.
#pragma once

#include "collector/trace/slice_block.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct sqlite3;

namespace fp8scope {

/// What SQLite or a trace's tables made impossible; the module hands it to SQLite as the query's error.
struct CatalogError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct SliceCatalog {
    struct Block {
        std::int64_t id = 0;
        std::uint32_t track = 0;
        BlockRow row;
    };
    struct NameRow {
        std::string text, kind, role, family, precision;
    };
    struct OpRow {
        std::optional<std::int64_t> layer;
        std::string phase;
    };

    std::vector<Block> blocks;  ///< by id
    std::vector<NameRow> names;
    std::vector<OpRow> ops;
    std::vector<std::int64_t> trackRuns;
    std::uint32_t launchShapes = 0;
    std::uint64_t sliceCount = 0;

    [[nodiscard]] BlockLimits limits() const
    {
        return {static_cast<std::uint32_t>(names.size()), static_cast<std::uint32_t>(ops.size()), launchShapes};
    }
};

[[nodiscard]] std::string quotedIdentifier(const std::string& name);

/// Reads the tables of `schema` ("main"). Throws CatalogError for ids that are not dense and blocks that claim the
/// impossible.
[[nodiscard]] SliceCatalog readSliceCatalog(sqlite3* db, const std::string& schema);

}  // namespace fp8scope
