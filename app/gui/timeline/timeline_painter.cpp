// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/timeline_painter.h"

#include "app/gui/timeline/timeline_overlay.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

constexpr int kLeastLabelPx = 34;
constexpr int kLabelPadding = 4;

int scaled(double px, double ratio) { return static_cast<int>(std::lround(px * ratio)); }

/// Rows of calls and ranges say what the program did; only queues do the work that families stand for.
bool isNeutral(TrackKind kind) { return kind == TrackKind::CpuThread || kind == TrackKind::Annotation; }

QString labelText(const Trace& trace, NameId name)
{
    const std::string& text = trace.name(name).text;
    const std::size_t skip = text.starts_with("void ") ? 5 : 0;
    return QString::fromUtf8(text.data() + skip,
                             static_cast<qsizetype>(std::min<std::size_t>(text.size() - skip, 256)));
}

}  // namespace

void TimelinePainter::paint(QPainter& painter, TimelineScene& scene, const QFont& font)
{
    const double ratio = painter.device()->devicePixelRatioF();
    const QSize pixels = scene.canvas().size() * ratio;
    if (m_stale || m_canvas.size() != pixels || m_canvas.devicePixelRatio() != ratio)
        drawRows(scene, font, ratio);
    painter.setFont(font);
    painter.drawImage(scene.canvas().topLeft(), m_canvas);
    painter.save();
    painter.setClipRect(scene.canvas());
    drawRange(painter, scene);
    drawOutlines(painter, scene);
    painter.restore();
    drawLabels(painter, scene);
    drawRuler(painter, scene);
}

void TimelinePainter::drawRows(TimelineScene& scene, const QFont& font, double ratio)
{
    const Theme& theme = currentTheme();
    const RasterColors colors(theme);
    const QSize pixels = scene.canvas().size() * ratio;
    if (m_canvas.size() != pixels)
        m_canvas = QImage(pixels, QImage::Format_RGB32);
    m_canvas.setDevicePixelRatio(ratio);
    m_canvas.fill(theme.background);
    m_labels.setFont(font, ratio);

    {
        QPainter painter(&m_canvas);
        painter.setFont(font);
        painter.translate(-scene.canvas().topLeft());
        drawGrid(painter, scene);
    }
    const auto& rows = scene.rows.rows();
    const auto visible = [&](std::size_t r) { return r < rows.size() && scene.rowTop(rows[r]) < scene.size.height(); };
    const std::size_t first = scene.rows.firstRowBelow(scene.scrollY);
    for (std::size_t r = first; visible(r); ++r) {
        if (rows[r].kind == Row::Kind::Lane) {
            const int top = rows[r].y - scene.scrollY + kSliceInset;
            drawLane(scene, rows[r], scaled(top, ratio), scaled(rows[r].height - 2 * kSliceInset, ratio), ratio,
                     colors);
        }
    }
    QPainter painter(&m_canvas);
    painter.setFont(font);
    painter.translate(-scene.canvas().topLeft());
    for (std::size_t r = first; visible(r); ++r) {
        if (rows[r].kind == Row::Kind::Steps)
            drawSteps(painter, scene, rows[r]);
        else if (rows[r].kind == Row::Kind::Counter)
            drawCounter(painter, scene, rows[r]);
        else if (rows[r].isHeader())
            painter.fillRect(
                QRect(scene.canvas().left(), scene.rowTop(rows[r]), scene.canvas().width(), rows[r].height),
                theme.panel);
        painter.setPen(theme.line);
        painter.drawLine(scene.canvas().left(), scene.rowTop(rows[r]) + rows[r].height - 1, scene.size.width(),
                         scene.rowTop(rows[r]) + rows[r].height - 1);
    }
    m_stale = false;
}

void TimelinePainter::drawLane(TimelineScene& scene, const Row& row, int top, int height, double ratio,
                               const RasterColors& colors)
{
    const auto lane = scene.laneSlices(row);
    if (!lane)
        return;
    const double startNs = scene.axis.startNs;
    const double nsPerPx = scene.axis.nsPerPx() / ratio;
    const int width = m_canvas.width();
    if (const Pyramid* pyramid = scene.pyramid(row))
        pyramid->draw(*lane, startNs, nsPerPx, width, m_picture);
    else
        drawSampled(*lane, startNs, nsPerPx, width, m_picture);

    LaneRaster raster(m_canvas, colors);
    const bool neutral = isNeutral(lane->track->kind);
    if (row.lane == 0 && lane->track->kind == TrackKind::DeviceQueue) {
        const RunExtent run = runExtent(scene.loaded->trace, row.run);
        const auto px = [&](std::int64_t ns) {
            return static_cast<int>(std::clamp((static_cast<double>(ns) - startNs) / nsPerPx, -1.0, width + 1.0));
        };
        raster.hatch(px(run.startNs), px(run.endNs), top, height);
    }
    findEmphasis(scene, row, *lane, startNs, nsPerPx);
    raster.draw(m_picture, *lane, m_emphasis, nsPerPx, top, height, neutral);
    drawBoxLabels(scene, *lane, raster, top, height, ratio, colors, neutral);
}

void TimelinePainter::drawBoxLabels(const TimelineScene& scene, const LaneSlices& lane, const LaneRaster& raster,
                                    int top, int height, double ratio, const RasterColors& colors, bool neutral)
{
    const int least = scaled(kLeastLabelPx, ratio);
    const int padding = scaled(kLabelPadding, ratio);
    for (std::size_t b = 0; b < m_picture.boxes.size(); ++b) {
        const Box& box = m_picture.boxes[b];
        if (box.rightPx - box.leftPx < least)
            continue;
        const LaneRaster::Extent extent = raster.visible(box);
        if (extent.right - extent.left < least)
            continue;
        const std::size_t family = lane.family(box.position);
        const bool faded = m_emphasis.active && m_emphasis.boxes[b] == 0;
        const QRgb color = neutral ? colors.neutralText : faded ? colors.fadedText[family] : colors.text[family];
        const NameId name = lane.track->slices.name[lane.index(box.position)];
        m_labels.draw(m_canvas, extent.left + padding, top, extent.right - extent.left - 2 * padding, height, color,
                      name.value, labelText(scene.loaded->trace, name));
    }
}

void TimelinePainter::findEmphasis(TimelineScene& scene, const Row& row, const LaneSlices& lane, double startNs,
                                   double nsPerPx)
{
    m_emphasis.active = scene.emphasis.active();
    if (!m_emphasis.active)
        return;
    m_emphasis.boxes.resize(m_picture.boxes.size());
    for (std::size_t b = 0; b < m_picture.boxes.size(); ++b)
        m_emphasis.boxes[b] = scene.emphasis.matches(lane, m_picture.boxes[b].position) ? 1 : 0;
    m_emphasis.columns.assign(m_picture.columns.size(), 0);
    if (scene.pyramid(row) == nullptr)
        return;
    const auto matches = scene.emphasis.matchesOf(lane, row.track, row.lane);
    auto next = std::partition_point(matches.begin(), matches.end(),
                                     [&](std::uint32_t p) { return static_cast<double>(lane.endNs(p)) < startNs; });
    // One match a column is enough to know; the next one of interest begins in a later column.
    while (next != matches.end()) {
        const double px = std::max(0.0, (static_cast<double>(lane.startNs(*next)) - startNs) / nsPerPx);
        if (px >= static_cast<double>(m_emphasis.columns.size()))
            break;
        const auto x = static_cast<std::size_t>(px);
        m_emphasis.columns[x] = static_cast<std::uint16_t>(m_emphasis.columns[x] | 1U << lane.family(*next));
        const double columnEnd = startNs + static_cast<double>(x + 1) * nsPerPx;
        next = std::partition_point(next + 1, matches.end(),
                                    [&](std::uint32_t p) { return static_cast<double>(lane.startNs(p)) < columnEnd; });
    }
}

}  // namespace fp8scope::gui
