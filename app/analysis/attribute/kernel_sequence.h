// SPDX-License-Identifier: Apache-2.0
// What repeats in a sequence of kernels.
#pragma once

#include "collector/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fp8scope::analysis {

/// The queue with the most slices: streams interleave by chance, so a sequence is looked for on one. none() for a run
/// with nothing on a device.
[[nodiscard]] TrackId busiestQueue(const Trace&, RunId);

/// A way to cut a sequence into repetitions.
struct Period {
    std::size_t repetitions = 0;
    double similarity = 0;  ///< of neighbouring repetitions: 1 when each has the same kernels as the one before
    std::vector<std::vector<std::size_t>> cuts;  ///< equally good sets of positions at which repetitions begin
};

/// Periods of a sequence of small numbers: what occurs once a repetition, at even distances, marks its repetitions.
/// Only those that cover at least 70% of the sequence and whose neighbours have at least 80% of their elements in
/// common; the most similar first, of equals the shortest. O(n log n).
[[nodiscard]] std::vector<Period> findPeriods(std::span<const std::uint32_t> tokens);

/// Whether some four elements in a row, not all the same, come at least three times without overlap.
[[nodiscard]] bool repeatsInside(std::span<const std::uint32_t> tokens);

}  // namespace fp8scope::analysis
