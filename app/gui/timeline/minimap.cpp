// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/minimap.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

/// Spreads a box over the columns it covers, by the part of each.
void addBox(std::vector<PixelColumn>& columns, const Box& box, std::size_t family, double nsPerPx)
{
    const double left = std::max(box.leftPx, 0.0);
    const double right = std::min(box.rightPx, static_cast<double>(columns.size()));
    for (auto x = static_cast<std::size_t>(left); x < columns.size() && static_cast<double>(x) < right; ++x) {
        const double covered = std::min(right, static_cast<double>(x) + 1) - std::max(left, static_cast<double>(x));
        columns[x].busyNs[family] += static_cast<float>(covered * nsPerPx);
    }
}

double sumOf(const PixelColumn& column)
{
    double sum = 0;
    for (const float busy : column.busyNs)
        sum += static_cast<double>(busy);
    return sum;
}

}  // namespace

std::vector<PixelColumn> densityColumns(const TimelineScene& scene, const Context& context, double startNs,
                                        double nsPerPx, int width)
{
    std::vector<PixelColumn> sum(static_cast<std::size_t>(width));
    LanePicture picture;
    const Trace& trace = scene.loaded->trace;
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        const TrackIndex* built = scene.index->track(TrackId(t));
        if (track.kind != TrackKind::DeviceQueue || built == nullptr || !context.runVisible(track.run))
            continue;
        for (std::uint32_t l = 0; l < built->lanes.size(); ++l) {
            const LaneSlices lane = built->lane(trace, track, l);
            built->lanes[l].draw(lane, startNs, nsPerPx, width, picture);
            for (std::size_t x = 0; x < sum.size(); ++x) {
                for (std::size_t f = 0; f < kSliceFamilies; ++f)
                    sum[x].busyNs[f] += picture.columns[x].busyNs[f];
            }
            for (const Box& box : picture.boxes)
                addBox(sum, box, lane.family(box.position), nsPerPx);
        }
    }
    return sum;
}

Minimap::Minimap(Context* context, TimelineView* view, QWidget* parent)
    : QWidget(parent), m_context(context), m_view(view)
{
    setFixedHeight(sizeHint().height());
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(tr("Overview of the whole trace"));
    setToolTip(tr("The whole trace by family. Drag to move the view."));
    connect(view, &TimelineView::viewChanged, this, qOverload<>(&QWidget::update));
    connect(context, &Context::rangeChanged, this, qOverload<>(&QWidget::update));
    connect(context, &Context::loadedChanged, this, &Minimap::invalidate);
    connect(context, &Context::runsChanged, this, &Minimap::invalidate);
    connect(&view->index(), &TimelineIndex::completed, this, &Minimap::invalidate);
}

void Minimap::invalidate()
{
    m_density = {};
    update();
}

double Minimap::timeAt(double x) const
{
    const TimeAxis& axis = m_view->scene().axis;
    return axis.boundsStartNs + x / width() * (axis.boundsEndNs - axis.boundsStartNs);
}

double Minimap::xOf(double ns) const
{
    const TimeAxis& axis = m_view->scene().axis;
    return (ns - axis.boundsStartNs) / (axis.boundsEndNs - axis.boundsStartNs) * width();
}

void Minimap::drawDensity()
{
    const double ratio = devicePixelRatioF();
    m_density = QImage(size() * ratio, QImage::Format_RGB32);
    m_density.fill(currentTheme().panel);
    if (!m_view->scene().loaded)
        return;
    const TimeAxis& axis = m_view->scene().axis;
    const double nsPerPx = (axis.boundsEndNs - axis.boundsStartNs) / m_density.width();
    const auto columns = densityColumns(m_view->scene(), *m_context, axis.boundsStartNs, nsPerPx, m_density.width());
    double most = 0;
    for (const PixelColumn& column : columns)
        most = std::max(most, sumOf(column));
    for (std::size_t x = 0; x < columns.size() && most > 0; ++x) {
        double used = 0;
        int bottom = m_density.height();
        for (std::size_t f = 0; f < kSliceFamilies; ++f) {
            used += static_cast<double>(columns[x].busyNs[f]);
            const int top = m_density.height() - static_cast<int>(std::lround(used / most * (m_density.height() - 2)));
            const QRgb color = currentTheme().family(static_cast<Family>(f)).rgb();
            for (int y = top; y < bottom; ++y)
                reinterpret_cast<QRgb*>(m_density.scanLine(y))[x] = color;
            bottom = std::min(bottom, top);
        }
    }
}

void Minimap::paintEvent(QPaintEvent*)
{
    if (m_density.size() != size() * devicePixelRatioF())
        drawDensity();
    const Theme& theme = currentTheme();
    QPainter painter(this);
    painter.drawImage(rect(), m_density);
    if (!m_view->scene().loaded)
        return;
    if (const auto& range = m_view->scene().range) {
        QColor mark = theme.accent;
        mark.setAlphaF(0.35F);
        const double left = xOf(static_cast<double>(range->startNs));
        painter.fillRect(QRectF(left, 0, std::max(1.0, xOf(static_cast<double>(range->endNs)) - left), height()), mark);
    }
    const TimeAxis& axis = m_view->scene().axis;
    const double left = std::max(0.0, xOf(axis.startNs));
    const double right = std::min(static_cast<double>(width()), std::max(xOf(axis.endNs()), left + 3));
    // What is not seen lies under a veil; the seen part keeps its colours.
    QColor veil = theme.background;
    veil.setAlphaF(0.62F);
    painter.fillRect(QRectF(0, 0, left, height()), veil);
    painter.fillRect(QRectF(right, 0, width() - right, height()), veil);
    painter.setPen(theme.accent);
    painter.drawRect(QRectF(left, 0, right - left - 1, height() - 1));
}

void Minimap::resizeEvent(QResizeEvent*) { invalidate(); }

void Minimap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !m_view->scene().loaded)
        return;
    const TimeAxis& axis = m_view->scene().axis;
    const double ns = timeAt(event->position().x());
    const bool grabbed = ns >= axis.startNs && ns < axis.endNs();
    m_grabOffsetNs = grabbed ? ns - (axis.startNs + axis.spanNs / 2) : 0;
    if (!grabbed)
        m_view->centreOn(ns);
}

void Minimap::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::LeftButton) && m_view->scene().loaded)
        m_view->centreOn(timeAt(event->position().x()) - m_grabOffsetNs);
}

void Minimap::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        invalidate();
}

}  // namespace fp8scope::gui
