// SPDX-License-Identifier: Apache-2.0
// How long a run of several modes will still take, from the steps it has done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8scope::session {

/// Steps of a mode take the mean of those done, the first left out (it pays for warming up). Modes to come take what
/// the measured ones suggest: their steps cost in proportion to `stepWeights`, at the last measured mode's time per
/// weight.
class TimeLeft {
public:
    /// `stepWeights`: a guess of each mode's step cost, in any unit. `steps`: those of a mode.
    TimeLeft(std::vector<double> stepWeights, int steps);

    void stepDone(std::size_t mode, std::int64_t durNs);
    /// A mode ended early: its other steps will not come.
    void modeEnded(std::size_t mode);
    /// -1: not known yet, as no second step was done.
    [[nodiscard]] double seconds() const;

private:
    struct Mode {
        double weight = 1;
        int done = 0;
        bool ended = false;
        double firstNs = 0;
        double laterNs = 0;  ///< of all steps but the first
    };
    [[nodiscard]] static double meanNs(const Mode&);

    std::vector<Mode> m_modes;
    int m_steps;
};

}  // namespace fp8scope::session
