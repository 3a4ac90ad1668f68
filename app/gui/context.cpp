// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/context.h"

#include <algorithm>

namespace fp8scope::gui {

void Context::setLoaded(std::shared_ptr<const LoadedTrace> loaded)
{
    m_loaded = std::move(loaded);
    hideRunsOfNoRow();
    m_range.reset();
    m_selection = {};
    emit loadedChanged();
    emit runsChanged();
    emit rangeChanged();
    emit selectionChanged(m_selection);
}

/// Of runs that repeat each other the typical one is shown, and an ablation's many variants have a place of their own.
void Context::hideRunsOfNoRow()
{
    m_hiddenRuns.clear();
    if (!m_loaded || m_loaded->overview.runs.empty())
        return;  // a trace about which nothing can be said is shown whole
    const auto& rows = m_loaded->overview.runs;
    for (std::uint32_t r = 0; r < m_loaded->trace.runs.size(); ++r) {
        if (std::none_of(rows.begin(), rows.end(), [r](const analysis::Breakdown& b) { return b.run == RunId(r); }))
            m_hiddenRuns.emplace_back(r);
    }
}

void Context::setSelection(const Selection& selection)
{
    if (selection == m_selection)
        return;
    m_selection = selection;
    emit selectionChanged(m_selection);
}

void Context::setRange(std::optional<TimeSpan> range)
{
    if (range == m_range)
        return;
    m_range = range;
    emit rangeChanged();
}

bool Context::hidden(RunId run) const
{
    return std::find(m_hiddenRuns.begin(), m_hiddenRuns.end(), run) != m_hiddenRuns.end();
}

void Context::setRunVisible(RunId run, bool visible)
{
    if (visible != hidden(run))
        return;
    if (visible)
        std::erase(m_hiddenRuns, run);
    else
        m_hiddenRuns.push_back(run);
    emit runsChanged();
}

}  // namespace fp8scope::gui
