// SPDX-License-Identifier: Apache-2.0
// Each instant of a range is given to one slice: a sweep over starts with a heap of what runs, most important on top.
#include "app/analysis/exposure.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace fp8scope::analysis {
namespace {

constexpr int kWaits = 4;  ///< a synchronization is no work: what it covers is idle

int priorityOf(Family family)
{
    switch (family) {
    case Family::GemmFp8:
    case Family::Gemm16:
    case Family::GemmOther: return 0;
    case Family::Communication: return 2;
    case Family::MemoryOps: return 3;
    case Family::Idle: return kWaits;
    default: return 1;
    }
}

}  // namespace

ExposureSweep::ExposureSweep(const Trace& trace, RunId run, const SliceFamilies& families)
    : m_trace(trace), m_families(families)
{
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        if (track.run != run || track.kind != TrackKind::DeviceQueue || track.slices.size() == 0)
            continue;
        Queue queue{TrackId(t), &track.slices, {}};
        if (track.laneCount > 1) {
            queue.latestEnd.reserve(track.slices.size());
            std::int64_t latest = INT64_MIN;
            for (std::size_t i = 0; i < track.slices.size(); ++i) {
                latest = std::max(latest, track.slices.endNs(i));
                queue.latestEnd.push_back(latest);
            }
        }
        m_queues.push_back(std::move(queue));
    }
}

/// Every slice of the queue that overlaps the range or is an instant inside it.
void ExposureSweep::collect(const Queue& queue, std::int64_t startNs, std::int64_t endNs, Exposure& exposure) const
{
    const SliceColumns& s = *queue.slices;
    // latestEnd never falls, so the first slice that may reach into the range is found by bisection.
    std::size_t low = 0;
    std::size_t high = s.size();
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (queue.latestEndNs(middle) < startNs)
            low = middle + 1;
        else
            high = middle;
    }
    for (std::size_t i = low; i < s.size() && s.startNs[i] < endNs; ++i) {
        const bool reachesIn = s.endNs(i) > startNs || s.startNs[i] >= startNs;
        if (!reachesIn)
            continue;
        const std::int64_t busy = std::min(s.endNs(i), endNs) - std::max(s.startNs[i], startNs);
        exposure.slices.push_back({SliceRef{queue.track, static_cast<std::uint32_t>(i)}, 0, busy});
    }
}

std::vector<ExposureSweep::Candidate> ExposureSweep::candidates(Exposure& exposure, std::int64_t startNs,
                                                                std::int64_t endNs) const
{
    std::vector<Candidate> candidates;
    candidates.reserve(exposure.slices.size());
    for (ExposedSlice& slice : exposure.slices) {
        const SliceColumns& s = m_trace.track(slice.slice.track).slices;
        const std::size_t i = slice.slice.index;
        const int priority = priorityOf(m_families.of(s, i).family);
        if (priority != kWaits && slice.busyNs > 0)
            candidates.push_back(
                {&slice, s.startNs[i], std::max(s.startNs[i], startNs), std::min(s.endNs(i), endNs), priority});
    }
    const auto earlier = [](const Candidate& a, const Candidate& b) { return a.sortNs < b.sortNs; };
    if (!std::is_sorted(candidates.begin(), candidates.end(), earlier))  // one queue is sorted already
        std::stable_sort(candidates.begin(), candidates.end(), earlier);
    return candidates;
}

Exposure ExposureSweep::over(std::int64_t startNs, std::int64_t endNs) const
{
    Exposure exposure;
    if (endNs <= startNs)
        return exposure;
    for (const Queue& queue : m_queues)
        collect(queue, startNs, endNs, exposure);
    const std::vector<Candidate> pending = candidates(exposure, startNs, endNs);

    // Sorted by start, so a lower position started earlier; a heap of (priority, position) has what counts now on top.
    using Entry = std::pair<int, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> running;
    std::size_t next = 0;
    for (std::int64_t now = startNs; now < endNs;) {
        for (; next < pending.size() && pending[next].startNs <= now; ++next)
            running.emplace(pending[next].priority, next);
        while (!running.empty() && pending[running.top().second].endNs <= now)
            running.pop();
        const std::int64_t nextStart = next < pending.size() ? pending[next].startNs : endNs;
        if (running.empty()) {
            exposure.gaps.push_back({now, nextStart});
            exposure.idleNs += nextStart - now;
            now = nextStart;
            continue;
        }
        const Candidate& counts = pending[running.top().second];
        const std::int64_t until = std::min(counts.endNs, nextStart);
        counts.result->exposedNs += until - now;
        now = until;
    }
    return exposure;
}

Exposure exposedTime(const Trace& trace, RunId run, std::int64_t startNs, std::int64_t endNs)
{
    const SliceFamilies families(trace);
    return ExposureSweep(trace, run, families).over(startNs, endNs);
}

}  // namespace fp8scope::analysis
