// SPDX-License-Identifier: Apache-2.0
// The order and the lanes of a track's slices, and what a trace knows of its own extent.
#include "collector/trace/trace.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

namespace fp8scope {
namespace {

constexpr std::size_t kMaxLanes = 256;

template <typename T>
void permute(Column<T>& column, const std::vector<std::uint32_t>& order)
{
    if (column.empty())
        return;
    Column<T> sorted(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        sorted[i] = column[order[i]];
    column = std::move(sorted);
}

/// The common case, a queue that does one thing after another: no order to make, no lane to give.
bool followOneAnother(const SliceColumns& s)
{
    unsigned overlaps = 0;  // no early exit: the loop vectorizes, and nearly all tracks pass
    for (std::size_t i = 1; i < s.size(); ++i)
        overlaps |= static_cast<unsigned>(s.startNs[i] < s.startNs[i - 1] + std::max<std::int64_t>(s.durNs[i - 1], 1));
    return overlaps == 0;
}

bool comesBefore(const SliceColumns& s, std::size_t a, std::size_t b)
{
    return s.startNs[a] != s.startNs[b] ? s.startNs[a] < s.startNs[b] : s.durNs[a] > s.durNs[b];
}

void sortByStart(SliceColumns& s)
{
    bool sorted = true;
    for (std::size_t i = 1; i < s.size() && sorted; ++i)
        sorted = !comesBefore(s, i, i - 1);
    if (sorted)
        return;
    std::vector<std::uint32_t> order(s.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return comesBefore(s, a, b); });
    permute(s.startNs, order);
    permute(s.durNs, order);
    permute(s.name, order);
    permute(s.op, order);
    permute(s.correlation, order);
    permute(s.launchShape, order);
    permute(s.bytes, order);
}

/// The first lane that is free at a slice's start; when all are taken, the last one.
void assignLanes(Track& track)
{
    SliceColumns& s = track.slices;
    std::array<std::int64_t, kMaxLanes> laneEnd;
    std::size_t laneCount = 0;
    s.lane.resize(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
        std::size_t lane = 0;
        while (lane < laneCount && laneEnd[lane] > s.startNs[i])
            ++lane;
        if (lane == kMaxLanes)
            --lane;
        laneEnd[lane] = lane < laneCount ? std::max(laneEnd[lane], s.endNs(i)) : s.endNs(i);
        laneCount = std::max(laneCount, lane + 1);
        s.lane[i] = static_cast<std::uint8_t>(lane);
    }
    track.laneCount = static_cast<std::uint32_t>(std::max<std::size_t>(laneCount, 1));
    if (laneCount <= 1)
        s.lane = {};
}

}  // namespace

void finishTrack(Track& track)
{
    track.slices.lane = {};
    track.laneCount = 1;
    if (followOneAnother(track.slices))
        return;
    sortByStart(track.slices);
    assignLanes(track);
}

void finishTracks(Trace& trace)
{
    for (Track& track : trace.tracks)
        finishTrack(track);
}

std::size_t Trace::sliceCount() const
{
    return std::accumulate(tracks.begin(), tracks.end(), std::size_t{0},
                           [](std::size_t sum, const Track& t) { return sum + t.slices.size(); });
}

Trace::TimeRange Trace::timeRange() const
{
    std::int64_t start = INT64_MAX;
    std::int64_t end = INT64_MIN;
    for (const Track& track : tracks) {
        if (track.slices.size() == 0)
            continue;
        start = std::min(start, track.slices.startNs.front());
        for (std::size_t i = 0; i < track.slices.size(); ++i)
            end = std::max(end, track.slices.endNs(i));
    }
    for (const Step& step : steps) {
        start = std::min(start, step.startNs);
        end = std::max(end, step.startNs + step.durNs);
    }
    return start <= end ? TimeRange{start, end} : TimeRange{};
}

}  // namespace fp8scope
