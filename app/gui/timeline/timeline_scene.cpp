// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/timeline_scene.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

constexpr double kReachPx = 3;

std::uint64_t slicesIn(const LaneSlices& lane, const Pyramid* pyramid, double fromNs, double toNs)
{
    FamilyTotals totals;
    const Pyramid none;
    (pyramid != nullptr ? *pyramid : none)
        .addTotals(lane, static_cast<std::int64_t>(std::floor(fromNs)), static_cast<std::int64_t>(std::ceil(toNs)),
                   totals);
    std::uint64_t count = 0;
    for (const std::uint64_t c : totals.count)
        count += c;
    return count;
}

}  // namespace

std::map<TrackId, CounterSeries> counterSeries(const Trace& trace)
{
    std::map<TrackId, CounterSeries> counters;
    for (const Sample& sample : trace.samples) {
        if (std::isfinite(sample.value))
            counters[sample.track].samples.push_back(sample);
    }
    for (auto& [track, series] : counters) {
        auto& samples = series.samples;
        std::stable_sort(samples.begin(), samples.end(),
                         [](const Sample& a, const Sample& b) { return a.timeNs < b.timeNs; });
        const auto [low, high] = std::minmax_element(
            samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.value < b.value; });
        series.low = low->value;
        series.high = high->value;
    }
    return counters;
}

std::optional<LaneSlices> TimelineScene::laneSlices(const Row& row) const
{
    const Track& track = loaded->trace.track(row.track);
    if (const TrackIndex* built = index->track(row.track))
        return built->lane(loaded->trace, track, row.lane);
    if (track.laneCount > 1 && row.lane > 0)
        return std::nullopt;
    return LaneSlices{.trace = &loaded->trace, .track = &track, .families = {}, .order = {}};
}

const Pyramid* TimelineScene::pyramid(const Row& row) const
{
    const TrackIndex* built = index->track(row.track);
    return built != nullptr ? &built->lanes[row.lane] : nullptr;
}

Hit TimelineScene::hitTest(QPoint point) const
{
    if (!loaded || point.y() < kRulerHeight)
        return {};
    const auto row = rows.rowAt(point.y() - kRulerHeight + scrollY);
    if (!row)
        return {};
    const Row& hit = rows.rows()[*row];
    if (point.x() < kLabelWidth)
        return {.row = row};
    if (hit.kind == Row::Kind::Lane)
        return hitLane(*row, point.x());
    if (hit.kind == Row::Kind::Steps) {
        const double ns = timeAt(point.x());
        const auto& steps = loaded->trace.steps;
        const auto step = std::find_if(steps.begin(), steps.end(), [&](const Step& s) {
            return s.run == hit.run && static_cast<double>(s.startNs) <= ns &&
                   ns < static_cast<double>(s.startNs + s.durNs);
        });
        if (step != steps.end())
            return {.row = row, .step = static_cast<std::size_t>(step - steps.begin())};
    }
    return {.row = row};
}

Hit TimelineScene::hitLane(std::size_t rowIndex, int x) const
{
    Hit hit{.row = rowIndex};
    const Row& row = rows.rows()[rowIndex];
    const auto lane = laneSlices(row);
    if (!lane || lane->size() == 0)
        return hit;
    const double ns = timeAt(x) + axis.nsPerPx() / 2;
    // The slice that began last before the point, and its neighbours: the point may be in a gap or beside a slice of no
    // width.
    const std::size_t after = lane->firstStartingAt(ns);
    double best = kReachPx * axis.nsPerPx();
    std::optional<std::size_t> found;
    for (std::size_t p = after > 2 ? after - 2 : 0; p < std::min(after + 1, lane->size()); ++p) {
        const double before = static_cast<double>(lane->startNs(p)) - ns;
        const double past = ns - static_cast<double>(lane->endNs(p));
        const double distance = std::max({before, past, 0.0});
        if (distance <= best) {
            best = distance;
            found = p;
        }
    }
    if (!found)
        return hit;
    hit.slice = SliceRef{row.track, lane->index(*found)};
    if (static_cast<double>(lane->durNs(*found)) < kBoxPx * axis.nsPerPx()) {
        const std::uint64_t merged = slicesIn(*lane, pyramid(row), ns - axis.nsPerPx() / 2, ns + axis.nsPerPx() / 2);
        hit.merged = merged > 1 ? merged : 0;
    }
    return hit;
}

}  // namespace fp8scope::gui
