// SPDX-License-Identifier: Apache-2.0
// The ranks of one job beside each other: who is late, and what the others' collectives wait for.
#pragma once

#include "app/analysis/breakdown.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

/// One rank's typical step. compute + communication + memory + idle (exposed) are its step.
struct RankRow {
    RunId run;
    std::string name;        ///< the run's: "rank 3", "process 4711"
    std::int32_t rank = -1;  ///< as the file says it; else the run's position
    std::int64_t stepNs = 0;
    std::int64_t computeNs = 0, communicationNs = 0, memoryNs = 0, idleNs = 0;  ///< exposed
    std::int64_t collectivesNs = 0;  ///< busy time of collectives that were matched, a step
    std::int64_t waitingNs = 0;      ///< part of it in which the rank waited for others
    bool straggler = false;          ///< the others wait for it
};

/// The collectives of one kind.
struct CollectiveRow {
    std::string name;
    std::size_t matched = 0;     ///< calls that were found on all their ranks
    std::int64_t workingNs = 0;  ///< of one rank, over all matched calls
    std::int64_t waitingNs = 0;  ///< over all ranks and matched calls
    std::int32_t lastRank = -1;  ///< the rank that most often came last
    double lastShare = 0;        ///< in what share of the calls
};

struct RankComparison {
    std::vector<RankRow> ranks;              ///< by rank; empty with fewer than two
    std::vector<CollectiveRow> collectives;  ///< most waiting first
    std::size_t unmatched = 0;               ///< collective slices without a counterpart
    std::string verdict;                     ///< a sentence: who is waited for and what it costs
};

/// Of the imported runs of a trace, each a rank.
///
/// Collectives are matched by their kind, group and size (where the file tells) and their place in the step. A
/// collective ends for all its ranks when the last one has come: the rank that came last spends the least time in it.
/// That time is taken for the work, whatever others spend above it for waiting; so clocks of different machines need
/// not agree. A rank is a straggler if its matched collectives wait less than half as long as the median rank's, and
/// the ranks lose at least 2% of a step by waiting.
[[nodiscard]] RankComparison compareRanks(const Trace&, const std::vector<Breakdown>&);

}  // namespace fp8scope::analysis
