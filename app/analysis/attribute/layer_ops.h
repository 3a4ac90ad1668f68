// SPDX-License-Identifier: Apache-2.0
// Ops for slices whose layer was found later: the op that they had, if any, with the layer.
#pragma once

#include "collector/trace/trace.h"

#include <map>
#include <tuple>

namespace fp8scope::analysis {

class LayerOps {
public:
    LayerOps(Trace& trace, RunId run) : m_trace(trace), m_run(run) {}

    /// The op `base` (or one that says nothing) in a layer and phase; made on first use. A phase that the base knows
    /// stays.
    OpId in(OpId base, LayerId layer, Phase phase);
    /// The op `base` in another phase.
    OpId withPhase(OpId base, Phase phase);

private:
    OpId add(TraceOp op);

    Trace& m_trace;
    RunId m_run;
    std::map<std::tuple<OpId, LayerId, Phase>, OpId> m_made;
};

}  // namespace fp8scope::analysis
