// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/emphasis.h"

namespace fp8scope::gui {

Emphasis::Emphasis(std::shared_ptr<const LoadedTrace> loaded, const Selection& selection)
    : m_loaded(std::move(loaded)), m_selection(selection)
{
    if (!m_loaded)
        return;
    if (selection.name.valid())
        m_by = By::Name;
    else if (selection.op.valid())
        m_by = By::Op;
    else if (selection.layer.valid())
        m_by = By::Layer;
    else if (selection.family)
        m_by = By::Family;
}

bool Emphasis::matches(const LaneSlices& lane, std::size_t position) const
{
    const std::uint32_t i = lane.index(position);
    const SliceColumns& slices = lane.track->slices;
    switch (m_by) {
    case By::Nothing: return false;
    case By::Name: return slices.name[i] == m_selection.name;
    case By::Op: return slices.op[i] == m_selection.op;
    case By::Layer: return slices.op[i].valid() && lane.trace->op(slices.op[i]).layer == m_selection.layer;
    case By::Family:
        return lane.family(position) == static_cast<std::size_t>(*m_selection.family) &&
               (!m_selection.run.valid() || lane.track->run == m_selection.run);
    }
    return false;
}

std::span<const std::uint32_t> Emphasis::matchesOf(const LaneSlices& lane, TrackId track, std::uint32_t laneNumber)
{
    const auto [found, isNew] = m_found.try_emplace({track, laneNumber});
    if (isNew) {
        for (std::size_t p = 0; p < lane.size(); ++p) {
            if (matches(lane, p))
                found->second.push_back(static_cast<std::uint32_t>(p));
        }
    }
    return found->second;
}

}  // namespace fp8scope::gui
