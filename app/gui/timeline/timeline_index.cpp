// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/timeline_index.h"

#include <algorithm>

namespace fp8scope::gui {
namespace {

std::vector<std::uint8_t> familiesOf(const Track& track, const analysis::SliceFamilies& known,
                                     const std::stop_token& stop)
{
    const SliceColumns& slices = track.slices;
    std::vector<std::uint8_t> families(slices.size());
    for (std::size_t i = 0; i < slices.size(); ++i) {
        if (i % 65536 == 0 && stop.stop_requested())
            break;
        families[i] = static_cast<std::uint8_t>(known.of(slices, i).family);
    }
    return families;
}

std::vector<std::vector<std::uint32_t>> lanesOf(const Track& track)
{
    std::vector<std::vector<std::uint32_t>> lanes;
    if (track.laneCount <= 1 || track.slices.lane.empty())
        return lanes;
    std::vector<std::size_t> sizes(track.laneCount);
    for (const std::uint8_t lane : track.slices.lane)
        ++sizes[lane];
    lanes.resize(track.laneCount);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        lanes[lane].reserve(sizes[lane]);
    for (std::size_t i = 0; i < track.slices.size(); ++i)
        lanes[track.slices.lane[i]].push_back(static_cast<std::uint32_t>(i));
    return lanes;
}

}  // namespace

LaneSlices TrackIndex::lane(const Trace& trace, const Track& track, std::uint32_t lane) const
{
    LaneSlices slices{.trace = &trace, .track = &track, .families = families, .order = {}};
    if (!laneOrder.empty())
        slices.order = laneOrder[lane];
    return slices;
}

std::size_t TrackIndex::bytes() const
{
    std::size_t sum = families.capacity();
    for (const auto& order : laneOrder)
        sum += order.capacity() * sizeof(order[0]);
    for (const Pyramid& pyramid : lanes)
        sum += pyramid.bytes();
    return sum;
}

TrackIndex buildTrackIndex(const Trace& trace, const Track& track, const analysis::SliceFamilies& families,
                           const std::stop_token& stop)
{
    TrackIndex index;
    index.families = familiesOf(track, families, stop);
    index.laneOrder = lanesOf(track);
    const auto laneCount = static_cast<std::uint32_t>(std::max<std::size_t>(index.laneOrder.size(), 1));
    for (std::uint32_t lane = 0; lane < laneCount && !stop.stop_requested(); ++lane)
        index.lanes.emplace_back(index.lane(trace, track, lane), stop);
    return index;
}

TimelineIndex::TimelineIndex(QObject* parent) : QObject(parent) {}

TimelineIndex::~TimelineIndex() = default;

void TimelineIndex::start(std::shared_ptr<const LoadedTrace> loaded)
{
    m_thread = {};
    m_tracks.clear();
    m_readyCount = 0;
    ++m_generation;
    if (!loaded)
        return;
    m_tracks.resize(loaded->trace.tracks.size());
    m_thread = std::jthread([this, loaded = std::move(loaded), generation = m_generation](const std::stop_token& stop) {
        const analysis::SliceFamilies families(loaded->trace);
        for (std::size_t t = 0; t < loaded->trace.tracks.size() && !stop.stop_requested(); ++t) {
            auto index = std::make_shared<const TrackIndex>(
                buildTrackIndex(loaded->trace, loaded->trace.tracks[t], families, stop));
            if (stop.stop_requested())
                return;
            QMetaObject::invokeMethod(
                this, [=, this] { accept(generation, t, index); }, Qt::QueuedConnection);
        }
    });
}

void TimelineIndex::accept(std::uint64_t generation, std::size_t track, std::shared_ptr<const TrackIndex> index)
{
    if (generation != m_generation)
        return;
    m_tracks[track] = std::move(index);
    ++m_readyCount;
    emit trackReady(TrackId(static_cast<std::uint32_t>(track)));
    if (complete())
        emit completed();
}

const TrackIndex* TimelineIndex::track(TrackId id) const
{
    return id.value < m_tracks.size() ? m_tracks[id.value].get() : nullptr;
}

std::size_t TimelineIndex::bytes() const
{
    std::size_t sum = 0;
    for (const auto& index : m_tracks)
        sum += index ? index->bytes() : 0;
    return sum;
}

}  // namespace fp8scope::gui
