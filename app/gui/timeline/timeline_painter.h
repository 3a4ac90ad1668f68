// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a TimelineScene. The rows' contents go to an image that is kept until something they depend on changes, so that
// moving the mouse redraws only what lies over them.
#pragma once

#include "app/gui/timeline/label_cache.h"
#include "app/gui/timeline/lane_raster.h"
#include "app/gui/timeline/timeline_scene.h"

#include <QFont>
#include <QImage>

class QPainter;

namespace fp8scope::gui {

class TimelinePainter {
public:
    /// The next paint() draws the rows anew. Range and hover need no call.
    void invalidate() { m_stale = true; }
    void paint(QPainter& painter, TimelineScene& scene, const QFont& font);

private:
    void drawRows(TimelineScene& scene, const QFont& font, double devicePixelRatio);
    void drawLane(TimelineScene& scene, const Row& row, int top, int height, double ratio, const RasterColors& colors);
    void drawBoxLabels(const TimelineScene& scene, const LaneSlices& lane, const LaneRaster& raster, int top,
                       int height, double ratio, const RasterColors& colors, bool neutral);
    void findEmphasis(TimelineScene& scene, const Row& row, const LaneSlices& lane, double startNs, double nsPerPx);

    LabelCache m_labels;
    QImage m_canvas;
    LanePicture m_picture;
    LaneEmphasis m_emphasis;
    bool m_stale = true;
};

/// Height that a slice takes in its row, and where it begins below the row's top.
inline constexpr int kSliceInset = 2;

}  // namespace fp8scope::gui
