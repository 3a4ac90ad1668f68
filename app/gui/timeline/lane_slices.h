// SPDX-License-Identifier: GPL-3.0-or-later
// The slices of one lane of a track, read in place: a lane is all of the track where nothing overlaps, else a list of
// positions.
#pragma once

#include "app/analysis/breakdown.h"
#include "collector/trace/trace.h"

#include <cstdint>
#include <span>

namespace fp8scope::gui {

/// A view; the trace and the index that it was taken from must outlive it. Positions are 0..size(), by start time.
struct LaneSlices {
    const Trace* trace = nullptr;
    const Track* track = nullptr;
    std::span<const std::uint8_t> families;  ///< by slice of the track; empty until the index is built
    std::span<const std::uint32_t> order;    ///< slice of the track by position; empty: the track has one lane

    [[nodiscard]] std::size_t size() const { return order.empty() ? track->slices.size() : order.size(); }
    [[nodiscard]] std::uint32_t index(std::size_t position) const
    {
        return order.empty() ? static_cast<std::uint32_t>(position) : order[position];
    }
    [[nodiscard]] std::int64_t startNs(std::size_t position) const { return track->slices.startNs[index(position)]; }
    [[nodiscard]] std::int64_t durNs(std::size_t position) const { return track->slices.durNs[index(position)]; }
    [[nodiscard]] std::int64_t endNs(std::size_t position) const { return track->slices.endNs(index(position)); }
    [[nodiscard]] std::size_t family(std::size_t position) const
    {
        const std::uint32_t i = index(position);
        return families.empty() ? static_cast<std::size_t>(analysis::familyOfSlice(*trace, *track, i)) : families[i];
    }
    /// The first position whose slice starts at or after `ns`.
    [[nodiscard]] std::size_t firstStartingAt(double ns) const;
};

}  // namespace fp8scope::gui
