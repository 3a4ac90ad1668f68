// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/attribute/layer_ops.h"

#include <algorithm>

namespace fp8scope::analysis {

OpId LayerOps::in(OpId base, LayerId layer, Phase phase)
{
    const auto [entry, isNew] =
        m_made.try_emplace({base, layer, phase}, OpId(static_cast<std::uint32_t>(m_trace.ops.size())));
    if (!isNew)
        return entry->second;
    TraceOp op = base.valid() ? m_trace.op(base) : TraceOp{.run = m_run};
    op.layer = layer;
    if (op.phase == Phase::Other)
        op.phase = phase;
    return add(std::move(op));
}

OpId LayerOps::withPhase(OpId base, Phase phase)
{
    const LayerId layer = m_trace.op(base).layer;
    const auto [entry, isNew] =
        m_made.try_emplace({base, layer, phase}, OpId(static_cast<std::uint32_t>(m_trace.ops.size())));
    if (!isNew)
        return entry->second;
    TraceOp op = m_trace.op(base);
    op.phase = phase;
    return add(std::move(op));
}

OpId LayerOps::add(TraceOp op)
{
    op.index = static_cast<std::uint32_t>(
        std::count_if(m_trace.ops.begin(), m_trace.ops.end(), [this](const TraceOp& o) { return o.run == m_run; }));
    m_trace.ops.push_back(std::move(op));
    return OpId(static_cast<std::uint32_t>(m_trace.ops.size() - 1));
}

}  // namespace fp8scope::analysis
