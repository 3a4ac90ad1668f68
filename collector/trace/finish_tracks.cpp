// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/trace.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace fp8scope {
namespace {

template <typename T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order)
{
    if (column.empty())
        return;
    std::vector<T> sorted;
    sorted.reserve(column.size());
    for (const std::uint32_t i : order)
        sorted.push_back(column[i]);
    column = std::move(sorted);
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
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return comesBefore(s, a, b); });
    permute(s.startNs, order);
    permute(s.durNs, order);
    permute(s.name, order);
    permute(s.op, order);
    permute(s.correlation, order);
    permute(s.launchShape, order);
    permute(s.bytes, order);
}

/// The first lane that is free at a slice's start; when all 255 are taken, the last one.
void assignLanes(Track& track)
{
    SliceColumns& s = track.slices;
    s.lane.clear();
    track.laneCount = 1;
    std::vector<std::int64_t> laneEnd{INT64_MIN};
    for (std::size_t i = 0; i < s.size(); ++i) {
        std::size_t lane = 0;
        while (lane < laneEnd.size() && laneEnd[lane] > s.startNs[i])
            ++lane;
        if (lane == laneEnd.size()) {
            if (laneEnd.size() < 256)
                laneEnd.push_back(INT64_MIN);
            else
                --lane;
        }
        laneEnd[lane] = std::max(laneEnd[lane], s.endNs(i));
        if (lane > 0) {
            if (s.lane.empty())
                s.lane.assign(s.size(), 0);
            s.lane[i] = static_cast<std::uint8_t>(lane);
        }
    }
    track.laneCount = static_cast<std::uint32_t>(laneEnd.size());
}

}  // namespace

void finishTracks(Trace& trace)
{
    for (Track& track : trace.tracks) {
        sortByStart(track.slices);
        assignLanes(track);
    }
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
