// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/context.h"

#include <vector>

namespace fp8scope::gui {

/// The runs that the toggles in the top bar leave shown, in the file's order; empty without a trace.
[[nodiscard]] inline std::vector<RunId> visibleRuns(const Context& context)
{
    std::vector<RunId> runs;
    const std::size_t count = context.loaded() ? context.loaded()->trace.runs.size() : 0;
    for (std::uint32_t r = 0; r < count; ++r)
        if (context.runVisible(RunId(r)))
            runs.push_back(RunId(r));
    return runs;
}

}  // namespace fp8scope::gui
