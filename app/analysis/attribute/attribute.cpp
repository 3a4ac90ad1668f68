// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/attribute.h"

#include "app/analysis/attribute/found_layers.h"
#include "app/analysis/attribute/found_steps.h"
#include "app/analysis/attribute/node_gradients.h"

#include <algorithm>

namespace fp8scope::analysis {

void attribute(Trace& trace)
{
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        const RunId run(r);
        if (trace.run(run).origin != Origin::Imported)
            continue;
        if (std::none_of(trace.steps.begin(), trace.steps.end(), [&](const Step& s) { return s.run == run; }))
            findSteps(trace, run);
        if (std::none_of(trace.layers.begin(), trace.layers.end(), [&](const Layer& l) { return l.run == run; }))
            findLayers(trace, run);
        splitNodeGradients(trace, run);
        attachQuantization(trace, run);
    }
}

}  // namespace fp8scope::analysis
