// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/timeline_view.h"

#include "app/gui/timeline/timeline_text.h"

#include <QEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

/// Small moves closer together than this are one entry of the history.
constexpr qint64 kBurstMs = 700;
/// A revealed slice takes this share of the width, so that its surroundings are seen.
constexpr double kRevealShare = 0.15;

QFont rowFont(const QFont& base)
{
    QFont font = base;
    font.setPixelSize(11);
    return font;
}

}  // namespace

TimelineView::TimelineView(Context* context, QWidget* parent) : QAbstractScrollArea(parent), m_context(context)
{
    m_scene.index = &m_index;
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Timeline"));
    setMinimumHeight(160);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    connect(context, &Context::loadedChanged, this, &TimelineView::loadedChanged);
    connect(context, &Context::selectionChanged, this, &TimelineView::selectionChanged);
    connect(context, &Context::rangeChanged, this, [this] {
        m_scene.range = m_context->range();
        viewport()->update();
    });
    connect(context, &Context::runsChanged, this, &TimelineView::rebuildRows);
    connect(&m_index, &TimelineIndex::trackReady, this, &TimelineView::redraw);
    loadedChanged();
}

void TimelineView::loadedChanged()
{
    m_scene.loaded = m_context->loaded();
    m_scene.counters.clear();
    m_scene.range = m_context->range();
    m_scene.hover = {};
    m_scene.scrollY = 0;
    m_history.clear();
    m_index.start(m_scene.loaded);
    if (m_scene.loaded) {
        const Trace::TimeRange range = m_scene.loaded->trace.timeRange();
        m_scene.counters = counterSeries(m_scene.loaded->trace);
        m_scene.zeroNs = static_cast<double>(range.startNs);
        m_scene.axis.setBounds(static_cast<double>(range.startNs), static_cast<double>(range.endNs));
    }
    selectionChanged();
    rebuildRows();
    emit viewChanged();
}

void TimelineView::selectionChanged()
{
    m_scene.selection = m_context->selection();
    m_scene.emphasis = Emphasis(m_scene.loaded, m_scene.selection);
    m_revealed = {};
    redraw();
}

void TimelineView::rebuildRows()
{
    m_scene.rows.rebuild(m_scene.loaded ? &m_scene.loaded->trace : nullptr,
                         [this](RunId run) { return m_context->runVisible(run); });
    m_scene.hover = {};
    updateScrollBar();
    redraw();
}

void TimelineView::updateScrollBar()
{
    const int seen = m_scene.canvas().height();
    verticalScrollBar()->setRange(0, std::max(0, m_scene.rows.height() - seen));
    verticalScrollBar()->setPageStep(seen);
    verticalScrollBar()->setSingleStep(24);
    m_scene.scrollY = verticalScrollBar()->value();
}

void TimelineView::redraw()
{
    m_painter.invalidate();
    viewport()->update();
}

void TimelineView::viewMoved()
{
    redraw();
    emit viewChanged();
}

TimeSpan TimelineView::visibleSpan() const
{
    return {std::llround(m_scene.axis.startNs), std::llround(m_scene.axis.endNs())};
}

TimelineViewport TimelineView::currentView() const
{
    return {m_scene.axis.startNs, m_scene.axis.spanNs, m_scene.scrollY};
}

void TimelineView::remember(bool burst)
{
    if (!burst || !m_lastMove.isValid() || m_lastMove.elapsed() > kBurstMs)
        m_history.remember(currentView());
    m_lastMove.start();
}

void TimelineView::goTo(const TimelineViewport& target)
{
    m_scene.axis.show(target.startNs, target.startNs + target.spanNs);
    verticalScrollBar()->setValue(target.scrollY);
    viewMoved();
}

void TimelineView::goBack()
{
    if (const auto target = m_history.back(currentView()))
        goTo(*target);
}

void TimelineView::goForward()
{
    if (const auto target = m_history.forward(currentView()))
        goTo(*target);
}

void TimelineView::fit()
{
    remember(false);
    m_scene.axis.fit();
    viewMoved();
}

void TimelineView::zoomBy(double factor)
{
    remember(true);
    m_scene.axis.zoom(factor, m_scene.axis.widthPx / 2);
    viewMoved();
}

void TimelineView::showSpan(const TimeSpan& span, double margin)
{
    remember(false);
    m_scene.axis.show(static_cast<double>(span.startNs), static_cast<double>(span.endNs), margin);
    viewMoved();
}

void TimelineView::centreOn(double ns)
{
    remember(true);
    m_scene.axis.pan(m_scene.axis.toPx(ns) - m_scene.axis.widthPx / 2);
    viewMoved();
}

void TimelineView::scrollToRow(const Row& row)
{
    const int seen = m_scene.canvas().height();
    if (row.y < m_scene.scrollY || row.bottom() > m_scene.scrollY + seen)
        verticalScrollBar()->setValue(row.y - seen / 3);
}

void TimelineView::showRun(RunId run)
{
    const auto& rows = m_scene.rows.rows();
    const auto first = std::find_if(rows.begin(), rows.end(), [run](const Row& r) { return r.run == run; });
    if (first == rows.end())
        return;
    const auto last = std::find_if(first, rows.end(), [run](const Row& r) { return r.run != run; }) - 1;
    const int seen = m_scene.canvas().height();
    if (first->y < m_scene.scrollY || std::min(last->bottom(), first->y + seen) > m_scene.scrollY + seen)
        verticalScrollBar()->setValue(first->y);
}

SliceRef TimelineView::firstMeant()
{
    const Selection& selection = m_scene.selection;
    if (selection.slice.valid() || !m_scene.emphasis.active())
        return selection.slice;
    const double notBefore = m_scene.range ? static_cast<double>(m_scene.range->startNs) : m_scene.axis.boundsStartNs;
    for (const bool inItsRun : {true, false}) {
        for (const Row& row : m_scene.rows.rows()) {
            if (row.kind != Row::Kind::Lane || (inItsRun && selection.run.valid() && row.run != selection.run))
                continue;
            const auto lane = m_scene.laneSlices(row);
            if (!lane)
                continue;
            const auto meant = m_scene.emphasis.matchesOf(*lane, row.track, row.lane);
            const auto first = std::partition_point(meant.begin(), meant.end(), [&](std::uint32_t p) {
                return static_cast<double>(lane->startNs(p)) < notBefore;
            });
            if (first != meant.end())
                return {row.track, lane->index(*first)};
        }
    }
    return {};
}

void TimelineView::reveal()
{
    if (!m_scene.loaded)
        return;
    if (const SliceRef slice = firstMeant(); slice.valid())
        revealSlice(slice, true);
    else if (m_scene.range)
        showSpan(*m_scene.range);
}

void TimelineView::revealSlice(SliceRef slice, bool zoom)
{
    const Trace& trace = m_scene.loaded->trace;
    if (!m_scene.rows.rowOf(slice.track, laneOf(trace, slice))) {
        m_scene.rows.unfold(trace, slice.track);
        rebuildRows();
    }
    const SliceColumns& slices = trace.track(slice.track).slices;
    const auto start = static_cast<double>(slices.startNs[slice.index]);
    const auto end = static_cast<double>(slices.endNs(slice.index));
    const bool inside = start >= m_scene.axis.startNs && end <= m_scene.axis.endNs();
    const bool wide = end - start > 8 * m_scene.axis.nsPerPx();
    if (zoom ? !inside || !wide : !inside) {
        remember(!zoom);
        const double half = zoom ? std::max(end - start, 1.0) / kRevealShare / 2 : m_scene.axis.spanNs / 2;
        m_scene.axis.show((start + end) / 2 - half, (start + end) / 2 + half);
        emit viewChanged();
    }
    if (const auto row = m_scene.rows.rowOf(slice.track, laneOf(trace, slice)))
        scrollToRow(m_scene.rows.rows()[*row]);
    redraw();
}

void TimelineView::select(SliceRef slice)
{
    m_context->setSelection(selectionOf(m_scene.loaded->trace, slice));
    revealSlice(slice, false);
}

void TimelineView::selectNeighbour(int direction)
{
    if (!m_scene.loaded)
        return;
    const SliceRef current = m_scene.selection.slice;
    if (!current.valid()) {
        if (const SliceRef first = firstMeant(); first.valid())
            select(first);
        return;
    }
    const Trace& trace = m_scene.loaded->trace;
    const std::uint32_t lane = laneOf(trace, current);
    const auto size = static_cast<std::int64_t>(trace.track(current.track).slices.size());
    for (std::int64_t i = std::int64_t{current.index} + direction; i >= 0 && i < size; i += direction) {
        const SliceRef next{current.track, static_cast<std::uint32_t>(i)};
        if (laneOf(trace, next) == lane)
            return select(next);
    }
}

void TimelineView::selectOnOtherRow(int direction)
{
    const SliceRef current = m_scene.selection.slice;
    if (!m_scene.loaded || !current.valid())
        return;
    const Trace& trace = m_scene.loaded->trace;
    const auto from = m_scene.rows.rowOf(current.track, laneOf(trace, current));
    const auto& rows = m_scene.rows.rows();
    const auto start = static_cast<double>(trace.track(current.track).slices.startNs[current.index]);
    for (auto r = static_cast<std::int64_t>(from.value_or(0)) + direction; r >= 0 && r < std::ssize(rows);
         r += direction) {
        const Row& row = rows[static_cast<std::size_t>(r)];
        const auto lane = row.kind == Row::Kind::Lane ? m_scene.laneSlices(row) : std::nullopt;
        if (!lane || lane->size() == 0)
            continue;
        const std::size_t after = std::min(lane->firstStartingAt(start), lane->size() - 1);
        const bool before = after > 0 && static_cast<double>(lane->endNs(after - 1)) > start;
        return select({row.track, lane->index(before ? after - 1 : after)});
    }
}

void TimelineView::rangeFromSelection()
{
    if (!m_scene.loaded)
        return;
    if (m_scene.selection.slice.valid()) {
        const SliceRef slice = m_scene.selection.slice;
        const SliceColumns& slices = m_scene.loaded->trace.track(slice.track).slices;
        m_context->setRange(TimeSpan{slices.startNs[slice.index], slices.endNs(slice.index)});
    } else if (m_scene.hover.step) {
        const Step& step = m_scene.loaded->trace.steps[*m_scene.hover.step];
        m_context->setRange(TimeSpan{step.startNs, step.startNs + step.durNs});
    }
}

void TimelineView::setCollapsed(const std::string& key, bool collapsed)
{
    m_scene.rows.setCollapsed(key, collapsed);
    rebuildRows();
}

void TimelineView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    m_painter.paint(painter, m_scene, rowFont(font()));
    if (m_scene.rows.rows().empty()) {
        painter.setPen(currentTheme().dim);
        painter.setFont(font());
        painter.drawText(m_scene.canvas(), Qt::AlignCenter,
                         m_scene.loaded ? tr("All runs are hidden. Switch one on in the top bar.")
                                        : tr("No trace is open. Open one to see its timeline."));
    }
    if (hasFocus()) {
        painter.setPen(currentTheme().accent);
        painter.drawLine(0, TimelineScene::kRulerHeight - 1, TimelineScene::kLabelWidth - 1,
                         TimelineScene::kRulerHeight - 1);
    }
}

void TimelineView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    m_scene.size = viewport()->size();
    m_scene.axis.setWidth(m_scene.canvas().width());
    updateScrollBar();
    viewMoved();
}

void TimelineView::scrollContentsBy(int, int)
{
    m_scene.scrollY = verticalScrollBar()->value();
    redraw();
}

void TimelineView::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange ||
        event->type() == QEvent::StyleChange)
        redraw();
}

}  // namespace fp8scope::gui
