// SPDX-License-Identifier: Apache-2.0
#include "app/session/schedule.h"

namespace fp8scope::session {

std::vector<ScheduledRun> schedule(std::size_t modes, int repeats)
{
    std::vector<ScheduledRun> runs;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        for (std::size_t i = 0; i < modes; ++i)
            runs.push_back({.mode = repeat % 2 == 0 ? i : modes - 1 - i, .repeat = repeat});
    }
    return runs;
}

}  // namespace fp8scope::session
