// SPDX-License-Identifier: GPL-3.0-or-later
// Which slices the selection means: all of one name, op, layer or family. The timeline shows them in full colour,
// others lighter.
#pragma once

#include "app/gui/context.h"
#include "app/gui/timeline/lane_slices.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace fp8scope::gui {

class Emphasis {
public:
    /// Nothing is emphasized.
    Emphasis() = default;
    /// The most telling part of the selection decides: name, else op, else layer, else family (of the selected run, if
    /// any).
    Emphasis(std::shared_ptr<const LoadedTrace> loaded, const Selection& selection);

    [[nodiscard]] bool active() const { return m_by != By::Nothing; }
    [[nodiscard]] bool matches(const LaneSlices& lane, std::size_t position) const;
    /// Positions of all matching slices of a lane, ascending. Found once a lane and kept: it visits every slice of the
    /// lane.
    [[nodiscard]] std::span<const std::uint32_t> matchesOf(const LaneSlices& lane, TrackId track,
                                                           std::uint32_t laneNumber);

private:
    enum class By { Nothing, Name, Op, Layer, Family };
    By m_by = By::Nothing;
    std::shared_ptr<const LoadedTrace> m_loaded;
    Selection m_selection;
    std::map<std::pair<TrackId, std::uint32_t>, std::vector<std::uint32_t>> m_found;
};

}  // namespace fp8scope::gui
