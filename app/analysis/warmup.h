// SPDX-License-Identifier: Apache-2.0
// Where a run's steps stop being slower than the rest: warm-up is found, not declared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fp8scope::analysis {

/// How many of the first durations, in time order, are warm-up: those before the last change-point at which steps get
/// faster for good, at most half of all. 0 for fewer than six: nothing tells then what settled steps take.
[[nodiscard]] std::size_t warmupSteps(std::span<const std::int64_t> durations);

}  // namespace fp8scope::analysis
