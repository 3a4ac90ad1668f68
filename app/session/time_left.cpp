// SPDX-License-Identifier: Apache-2.0
#include "app/session/time_left.h"

namespace fp8scope::session {

TimeLeft::TimeLeft(std::vector<double> stepWeights, int steps) : m_steps(steps)
{
    for (const double weight : stepWeights)
        m_modes.push_back({.weight = weight});
}

void TimeLeft::stepDone(std::size_t mode, std::int64_t durNs)
{
    Mode& measured = m_modes.at(mode);
    (measured.done == 0 ? measured.firstNs : measured.laterNs) += static_cast<double>(durNs);
    ++measured.done;
}

void TimeLeft::modeEnded(std::size_t mode) { m_modes.at(mode).ended = true; }

double TimeLeft::meanNs(const Mode& mode) { return mode.done > 1 ? mode.laterNs / (mode.done - 1) : mode.firstNs; }

double TimeLeft::seconds() const
{
    double nsPerWeight = 0;
    for (const Mode& mode : m_modes)
        if (mode.done > 1)
            nsPerWeight = meanNs(mode) / mode.weight;
    if (nsPerWeight == 0)
        return -1;
    double leftNs = 0;
    for (const Mode& mode : m_modes) {
        const double stepNs = mode.done > 1 ? meanNs(mode) : nsPerWeight * mode.weight;
        leftNs += mode.ended ? 0 : stepNs * (m_steps - mode.done);
    }
    return leftNs * 1e-9;
}

}  // namespace fp8scope::session
