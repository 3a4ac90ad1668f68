// SPDX-License-Identifier: GPL-3.0-or-later
// All that a picture of the timeline depends on, and what lies under a point of it. The view keeps one; the painter
// reads it.
#pragma once

#include "app/gui/context.h"
#include "app/gui/timeline/emphasis.h"
#include "app/gui/timeline/row_model.h"
#include "app/gui/timeline/time_axis.h"
#include "app/gui/timeline/timeline_index.h"

#include <QPoint>
#include <QRect>
#include <QSize>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace fp8scope::gui {

/// What lies under a point.
struct Hit {
    std::optional<std::size_t> row;
    SliceRef slice;                   ///< the slice there, or the nearest within 3 pixels
    std::uint64_t merged = 0;         ///< slices drawn in that pixel column, when they are merged; else 0
    std::optional<std::size_t> step;  ///< index into Trace::steps
    friend bool operator==(const Hit&, const Hit&) = default;
};

/// A counter's samples by time, with the finite ones' extremes.
struct CounterSeries {
    std::vector<Sample> samples;
    double low = 0;
    double high = 0;
};
[[nodiscard]] std::map<TrackId, CounterSeries> counterSeries(const Trace& trace);

struct TimelineScene {
    static constexpr int kLabelWidth = 176;
    static constexpr int kRulerHeight = 24;

    std::shared_ptr<const LoadedTrace> loaded;
    TimelineIndex* index = nullptr;
    std::map<TrackId, CounterSeries> counters;
    RowModel rows;
    TimeAxis axis;  ///< pixel 0 is the left edge of the canvas, right of the labels
    int scrollY = 0;
    QSize size;         ///< of the whole picture
    double zeroNs = 0;  ///< what the ruler calls 0
    Selection selection;
    Emphasis emphasis;
    std::optional<TimeSpan> range;
    Hit hover;

    [[nodiscard]] QRect canvas() const
    {
        return {kLabelWidth, kRulerHeight, qMax(1, size.width() - kLabelWidth), qMax(1, size.height() - kRulerHeight)};
    }
    /// Top of a row in the picture.
    [[nodiscard]] int rowTop(const Row& row) const { return kRulerHeight + row.y - scrollY; }
    [[nodiscard]] double timeAt(int x) const { return axis.toNs(x - kLabelWidth); }
    [[nodiscard]] double xOf(double ns) const { return kLabelWidth + axis.toPx(ns); }

    /// The slices of a lane row, with families and order where the index is built; nullopt for a further lane before
    /// that.
    [[nodiscard]] std::optional<LaneSlices> laneSlices(const Row& row) const;
    [[nodiscard]] const Pyramid* pyramid(const Row& row) const;

    [[nodiscard]] Hit hitTest(QPoint point) const;

private:
    [[nodiscard]] Hit hitLane(std::size_t row, int x) const;
};

}  // namespace fp8scope::gui
