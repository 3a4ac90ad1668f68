// SPDX-License-Identifier: Apache-2.0
// Intervals by resampling, for step times of repeated runs: steps of one run vary together, so whole runs are drawn
// first, then steps within each.
#pragma once

#include "app/analysis/steps.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fp8scope::analysis {

/// Step times of one run, ns.
using Durations = std::vector<std::int64_t>;

struct Estimate {
    double value = 0;
    Interval interval;  ///< 95%
};

/// The median of all steps of the repeats of one mode. The interval: percentiles of the medians of resamples, their
/// distance from the value widened by sqrt(n / (n - 1)) for n repeats, because drawing n of n runs varies too little by
/// that. The same input gives the same interval. Empty input gives zeros.
[[nodiscard]] Estimate bootstrapMedian(std::span<const Durations> repeats);

/// What one mode takes more than another: median of `to` less median of `from`. Repeats at the same position ran next
/// to each other and are drawn together, so what slowed both down cancels; those without a partner are left out.
[[nodiscard]] Estimate bootstrapDifference(std::span<const Durations> from, std::span<const Durations> to);

}  // namespace fp8scope::analysis
