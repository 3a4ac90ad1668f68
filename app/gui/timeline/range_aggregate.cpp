// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/range_aggregate.h"

#include "app/gui/timeline/row_model.h"

#include <algorithm>

namespace fp8scope::gui {

FamilyTotals familyTotals(const Trace& trace, const TimelineIndex& index, std::span<const RunId> runs, TimeSpan range)
{
    FamilyTotals totals;
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        const TrackIndex* built = index.track(TrackId(t));
        if (track.kind != TrackKind::DeviceQueue || built == nullptr ||
            std::find(runs.begin(), runs.end(), track.run) == runs.end())
            continue;
        for (std::uint32_t lane = 0; lane < built->lanes.size(); ++lane)
            built->lanes[lane].addTotals(built->lane(trace, track, lane), range.startNs, range.endNs, totals);
    }
    return totals;
}

ExposedFamilies exposedFamilies(const Trace& trace, std::span<const RunId> runs, TimeSpan range)
{
    const analysis::SliceFamilies familyOf(trace);
    ExposedFamilies families;
    for (const RunId id : runs) {
        const RunExtent run = runExtent(trace, id);
        const std::int64_t start = std::max(range.startNs, run.startNs);
        const std::int64_t end = std::min(range.endNs, run.endNs);
        if (start >= end)
            continue;
        const analysis::Exposure exposure = analysis::exposedTime(trace, id, start, end);
        for (const analysis::ExposedSlice& slice : exposure.slices) {
            const Family family = familyOf.of(trace.track(slice.slice.track).slices, slice.slice.index).family;
            families.ns[static_cast<std::size_t>(family)] += slice.exposedNs;
        }
        families.ns[static_cast<std::size_t>(Family::Idle)] += exposure.idleNs;
        families.wallNs += end - start;
    }
    return families;
}

}  // namespace fp8scope::gui
