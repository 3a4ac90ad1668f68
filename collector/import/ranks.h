// SPDX-License-Identifier: Apache-2.0
// The ranks of one job as one trace.
#pragma once

#include "collector/import/raw_events.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::import {

/// When a rank left a collective that all members leave together. Equal keys on two ranks are the same collective.
struct CollectiveEnd {
    std::string key;
    std::int64_t endNs = 0;
};

/// The file of one rank, read and assembled.
struct ImportedRank {
    Trace trace;
    std::string file;              ///< its name, without folders
    std::int64_t epochWallNs = 0;  ///< Unix time of its time 0; 0: not told
    std::int32_t rank = -1;
    std::vector<CollectiveEnd> collectives;
};

/// A file's name without what only tells its format: "step_12.1694128" of "step_12.1694128.pt.trace.json.gz".
[[nodiscard]] std::string runNameOf(std::string_view file);

/// The rank that a file's name tells: "rank-34.Jul_15.json", "worker3_step_12.pt.trace.json", "rank0_trace.json"; -1
/// for none.
[[nodiscard]] std::int32_t rankInName(std::string_view file);

/// The collectives of a file that say which they are: by group and sequence number; without one, by group, kind, size
/// and how many of these came before.
[[nodiscard]] std::vector<CollectiveEnd> collectiveEnds(const RawEvents&);

/// How much to add to each rank's times so that they share a clock whose 0 is the first event of all.
struct ClockAlignment {
    std::vector<std::int64_t> shiftNs;
    std::int64_t epochWallNs = 0;  ///< Unix time of the shared 0; 0: not known
    std::vector<Diagnostic> diagnostics;
};

/// By the Unix times that the files tell. Then, as hosts' clocks differ, by the collectives that a rank shares with the
/// first: its members leave it within microseconds, so the median difference of the ends is the clocks' difference. It
/// is taken only from eight collectives on, up to 100 ms, and where it is clearer than the spread around it. Files that
/// tell no Unix time are aligned at their first events, and a diagnostic says so.
[[nodiscard]] ClockAlignment alignClocks(const std::vector<ImportedRank>&);

/// One trace with a run (or more) a rank, in the order of ranks; names stand once. A single rank keeps its run's mode,
/// of several each is "rank N", or its file's name where no rank is known.
[[nodiscard]] Trace joinRanks(std::vector<ImportedRank>);

}  // namespace fp8scope::import
