// SPDX-License-Identifier: Apache-2.0
// Which steps of a run count, and how long a step is.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

struct Interval {
    double low = 0;
    double high = 0;
};

/// Steps to consider: indices first..last (inclusive, Step::index); the default is all.
struct StepLimit {
    std::uint32_t first = 0;
    std::uint32_t last = UINT32_MAX;
};

struct StepSummary {
    RunId run;
    std::vector<Step> used;         ///< in time order
    std::uint32_t totalCount = 0;   ///< all finished steps of the run, warm-up and unused ones included
    std::uint32_t warmupCount = 0;  ///< dropped as warm-up: declared, or found where durations still fall
    std::int64_t medianNs = 0;      ///< 0 when no step was used
    Interval interval;   ///< 95% interval of the median, ns (order statistics; equal to min..max below 6 steps)
    std::string source;  ///< how steps were found and how sure that is: "engine steps", "4 steps by ProfilerStep#
                         ///< marks, certain"
    /// Runs that the median and its interval are of. Of several, the interval is by bootstrap.
    std::uint32_t repeats = 1;
    std::uint32_t stepsOfAllRepeats = 0;  ///< used ones
    [[nodiscard]] bool empty() const { return used.empty(); }
    /// Half the interval's width over the median: by how much, relatively, any part of the step may be off.
    [[nodiscard]] double relativeNoise() const
    {
        return medianNs > 0 ? (interval.high - interval.low) / 2 / static_cast<double>(medianNs) : 0;
    }
};

/// Warm-up is found on the whole run, then the limit applies. A limit that covers nothing but warm-up steps gives
/// those.
[[nodiscard]] StepSummary summarizeSteps(const Trace&, RunId, StepLimit = {});

}  // namespace fp8scope::analysis
