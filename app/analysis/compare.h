// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: families, roles, layers and kernels joined, with the difference. The runs may be of two
// traces.
#pragma once

#include "app/analysis/breakdown.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

enum class JoinState : std::uint8_t { Both, Added, Removed };  ///< added: only in the second run

struct ComparedRow {
    std::string key;  ///< family, role, layer or kernel name
    JoinState state = JoinState::Both;
    TimePair from, to;                  ///< a step; for layers, busy repeats exposed
    double fromCount = 0, toCount = 0;  ///< launches a step; kernels only
    std::int64_t deltaNs = 0;           ///< exposed, to less from
    bool withinNoise = false;           ///< |delta| is no more than the two runs' steps vary
};

/// A run and the trace that it is of; both outlive the comparison.
struct RunView {
    const Trace& trace;
    const Breakdown& run;
};

/// In the words' order; rows that are 0 on both sides are left out. The deltas add up to the steps' difference exactly.
[[nodiscard]] std::vector<ComparedRow> compareFamilies(RunView from, RunView to);
/// In the words' order; without idle.
[[nodiscard]] std::vector<ComparedRow> compareRoles(RunView from, RunView to);
/// Joined by name, in the first run's model order; the layerless last. The deltas add up to the steps' difference
/// exactly.
[[nodiscard]] std::vector<ComparedRow> compareLayers(RunView from, RunView to);
/// Joined by name, largest difference first.
[[nodiscard]] std::vector<ComparedRow> compareKernels(RunView from, RunView to);

}  // namespace fp8scope::analysis
