// SPDX-License-Identifier: Apache-2.0
// In which order the modes of a run and their repeats are trained.
#pragma once

#include <cstddef>
#include <vector>

namespace fp8scope::session {

struct ScheduledRun {
    std::size_t mode = 0;  ///< index into MlpConfig::modes
    int repeat = 0;        ///< from 0
    friend bool operator==(const ScheduledRun&, const ScheduledRun&) = default;
};

/// A B C, C B A, A B C, ...: with alternating directions a machine that slowly warms up or gets busy favours no mode.
[[nodiscard]] std::vector<ScheduledRun> schedule(std::size_t modes, int repeats);

}  // namespace fp8scope::session
