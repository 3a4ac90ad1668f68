// SPDX-License-Identifier: Apache-2.0
// Runs that repeat each other, taken together: one line a mode instead of one a run.
#pragma once

#include "app/analysis/bootstrap.h"
#include "app/analysis/steps.h"

#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

/// The runs of a trace with one mode, configuration and origin, in the order in which they ran. Runs without a
/// configuration (imported ones) stand alone.
struct RunGroup {
    std::string mode;
    std::vector<RunId> runs;
    std::vector<StepSummary> repeats;  ///< of each run
    /// Of a single run, its own. Of several: the median and bootstrap interval of all their steps; `run` and `used` are
    /// those of the run whose median is nearest to it: the one to look into.
    StepSummary steps;

    [[nodiscard]] std::vector<Durations> durations() const;  ///< of the used steps of each run
};

/// In the order of the groups' first runs. A limit applies to each run.
[[nodiscard]] std::vector<RunGroup> runGroups(const Trace&, StepLimit = {});

/// One mode's step against another's.
struct StepDifference {
    double deltaNs = 0;  ///< of the second less the first: negative is faster
    Interval interval;   ///< 95%, bootstrap
    /// The interval holds 0: the repeats do not tell which is faster.
    [[nodiscard]] bool withinNoise() const { return interval.low <= 0 && interval.high >= 0; }
};
[[nodiscard]] StepDifference stepDifference(const RunGroup& from, const RunGroup& to);

/// "fp8+cast_chain": a mode with fusions added by hand or by an ablation.
[[nodiscard]] bool isVariant(std::string_view mode);

/// Drops variants from a list that would otherwise be too long to be looked at as a whole (more than four modes, as an
/// ablation makes); they are then the ablation's to show.
void dropCrowdOfVariants(std::vector<RunGroup>&);

}  // namespace fp8scope::analysis
