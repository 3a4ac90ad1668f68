// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline computes of a trace before it can draw it fast: families by slice, lanes, pyramids. Built track by
// track on a thread of its own; the view draws what is there and redraws as more arrives.
#pragma once

#include "app/analysis/slice_families.h"
#include "app/gui/context.h"
#include "app/gui/timeline/pyramid.h"

#include <QObject>

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace fp8scope::gui {

struct TrackIndex {
    std::vector<std::uint8_t> families;                 ///< by slice
    std::vector<std::vector<std::uint32_t>> laneOrder;  ///< by lane: its slices; empty when the track has one lane
    std::vector<Pyramid> lanes;

    [[nodiscard]] LaneSlices lane(const Trace& trace, const Track& track, std::uint32_t lane) const;
    [[nodiscard]] std::size_t bytes() const;
};

/// Unusable when `stop` was requested before the end.
[[nodiscard]] TrackIndex buildTrackIndex(const Trace& trace, const Track& track,
                                         const analysis::SliceFamilies& families, const std::stop_token& stop = {});

/// Lives on the GUI thread. A new start() supersedes the running one; the destructor waits for the thread, which stops
/// within a few thousand slices.
class TimelineIndex : public QObject {
    Q_OBJECT
public:
    explicit TimelineIndex(QObject* parent = nullptr);
    ~TimelineIndex() override;

    /// Forgets the previous trace and begins with this one; nullptr only forgets.
    void start(std::shared_ptr<const LoadedTrace> loaded);

    /// nullptr until the track is ready.
    [[nodiscard]] const TrackIndex* track(TrackId id) const;
    [[nodiscard]] bool complete() const { return m_readyCount == m_tracks.size(); }
    [[nodiscard]] std::size_t bytes() const;

signals:
    void trackReady(fp8scope::TrackId track);
    void completed();

private:
    void accept(std::uint64_t generation, std::size_t track, std::shared_ptr<const TrackIndex> index);

    std::vector<std::shared_ptr<const TrackIndex>> m_tracks;
    std::size_t m_readyCount = 0;
    std::uint64_t m_generation = 0;  ///< results of superseded builds still in the event queue carry an older one
    std::jthread m_thread;           ///< last: stopped and joined before the rest goes
};

}  // namespace fp8scope::gui
