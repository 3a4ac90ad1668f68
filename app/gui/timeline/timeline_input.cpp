// SPDX-License-Identifier: GPL-3.0-or-later
// TimelineView's half that hears mouse, wheel and keys. Keys act only while the timeline has the focus; every letter
// has a twin among the arrows and signs, so that no keyboard layout is left out.
#include "app/gui/timeline/timeline_text.h"
#include "app/gui/timeline/timeline_view.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace fp8scope::gui {
namespace {

constexpr double kKeyZoom = 1.5;
constexpr double kKeyPanShare = 0.15;
/// A wheel notch is 120 units; this many zoom by a factor of e.
constexpr double kWheelUnitsPerE = 500;
constexpr double kWheelPanPx = 0.8;

}  // namespace

bool TimelineView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = hitText(m_scene, m_scene.hitTest(help->pos()), help->pos());
        if (text.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), text, viewport(), QRect(help->pos() - QPoint(1, 1), QSize(3, 3)));
        return true;
    }
    if (event->type() == QEvent::Leave)
        setHover({});
    return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::setHover(const Hit& hit)
{
    if (hit == m_scene.hover)
        return;
    m_scene.hover = hit;
    const bool door = hit.slice.valid() || hit.step || (hit.row && m_scene.rows.rows()[*hit.row].isHeader());
    viewport()->setCursor(door ? Qt::PointingHandCursor : Qt::ArrowCursor);
    viewport()->update();
}

void TimelineView::mousePressEvent(QMouseEvent* event)
{
    m_pressPoint = m_dragPoint = event->position().toPoint();
    if (event->button() == Qt::MiddleButton ||
        (event->button() == Qt::LeftButton && event->modifiers() == Qt::ShiftModifier)) {
        remember(false);
        m_drag = Drag::Pan;
        viewport()->setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        m_drag = Drag::Pressed;
    } else if (event->button() == Qt::BackButton) {
        goBack();
    } else if (event->button() == Qt::ForwardButton) {
        goForward();
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event)
{
    const QPoint point = event->position().toPoint();
    if (m_drag == Drag::None)
        return setHover(m_scene.hitTest(point));
    if (m_drag == Drag::Pan) {
        m_scene.axis.pan(m_dragPoint.x() - point.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() + m_dragPoint.y() - point.y());
        m_dragPoint = point;
        return viewMoved();
    }
    const bool far = std::abs(point.x() - m_pressPoint.x()) >= QApplication::startDragDistance() / 2;
    if (m_drag == Drag::Pressed && far && m_scene.loaded && m_pressPoint.x() >= TimelineScene::kLabelWidth)
        m_drag = Drag::Range;
    if (m_drag == Drag::Range) {
        const int left = TimelineScene::kLabelWidth;
        const double a = m_scene.timeAt(std::clamp(m_pressPoint.x(), left, m_scene.size.width()));
        const double b = m_scene.timeAt(std::clamp(point.x(), left, m_scene.size.width()));
        m_context->setRange(TimeSpan{std::llround(std::min(a, b)), std::llround(std::max(a, b))});
    }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event)
{
    const Drag drag = std::exchange(m_drag, Drag::None);
    if (drag == Drag::Pressed)
        clicked(event->position().toPoint());
    if (drag == Drag::Pan)
        viewport()->setCursor(Qt::ArrowCursor);
}

void TimelineView::clicked(QPoint point)
{
    const Hit hit = m_scene.hitTest(point);
    if (!m_scene.loaded)
        return;
    if (hit.row && m_scene.rows.rows()[*hit.row].isHeader()) {
        const Row& header = m_scene.rows.rows()[*hit.row];
        return setCollapsed(std::string(header.key), !header.collapsed);
    }
    if (hit.slice.valid())
        return m_context->setSelection(selectionOf(m_scene.loaded->trace, hit.slice));
    if (hit.step) {
        const Step& step = m_scene.loaded->trace.steps[*hit.step];
        return m_context->setRange(TimeSpan{step.startNs, step.startNs + step.durNs});
    }
    if (point.x() >= TimelineScene::kLabelWidth)
        m_context->clearSelection();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event)
{
    const Hit hit = m_scene.hitTest(event->position().toPoint());
    if (!m_scene.loaded || event->button() != Qt::LeftButton)
        return;
    const Trace& trace = m_scene.loaded->trace;
    if (hit.slice.valid()) {
        const SliceColumns& slices = trace.track(hit.slice.track).slices;
        m_context->setSelection(selectionOf(trace, hit.slice));
        showSpan({slices.startNs[hit.slice.index], slices.endNs(hit.slice.index)}, 0.5);
    } else if (hit.step) {
        const Step& step = trace.steps[*hit.step];
        showSpan({step.startNs, step.startNs + step.durNs});
    }
}

void TimelineView::wheelEvent(QWheelEvent* event)
{
    const QPoint delta = event->angleDelta();
    const int turn = delta.y() != 0 ? delta.y() : delta.x();
    if (event->modifiers().testFlag(Qt::ControlModifier)) {
        remember(true);
        const double anchor = event->position().x() - TimelineScene::kLabelWidth;
        m_scene.axis.zoom(std::exp(turn / kWheelUnitsPerE), std::clamp(anchor, 0.0, m_scene.axis.widthPx));
        viewMoved();
    } else if (event->modifiers().testFlag(Qt::ShiftModifier) || delta.y() == 0) {
        remember(true);
        m_scene.axis.pan(-turn * kWheelPanPx);
        viewMoved();
    } else {
        verticalScrollBar()->setValue(verticalScrollBar()->value() - turn / 2);
    }
    setHover(m_scene.hitTest(event->position().toPoint()));
    event->accept();
}

void TimelineView::keyPressEvent(QKeyEvent* event)
{
    const Qt::KeyboardModifiers modifiers = event->modifiers() & ~Qt::KeypadModifier;
    if (navigate(event->key(), modifiers) || act(event->key(), modifiers))
        return event->accept();
    QWidget::keyPressEvent(event);  // not the scroll area's: its page keys would move time and rows alike
}

bool TimelineView::navigate(int key, Qt::KeyboardModifiers modifiers)
{
    if (modifiers == Qt::AltModifier && (key == Qt::Key_Left || key == Qt::Key_Right)) {
        key == Qt::Key_Left ? goBack() : goForward();
        return true;
    }
    // Plus needs Shift on many layouts, and Shift makes W, S, A, D faster.
    if ((modifiers & ~Qt::ShiftModifier) != Qt::NoModifier)
        return false;
    const double speed = modifiers.testFlag(Qt::ShiftModifier) ? 3 : 1;
    const auto pan = [&](double direction) {
        remember(true);
        m_scene.axis.pan(direction * speed * kKeyPanShare * m_scene.axis.widthPx);
        viewMoved();
        return true;
    };
    switch (key) {
    case Qt::Key_W: return zoomBy(std::pow(kKeyZoom, speed)), true;
    case Qt::Key_S: return zoomBy(1 / std::pow(kKeyZoom, speed)), true;
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoomBy(kKeyZoom), true;
    case Qt::Key_Minus:
    case Qt::Key_Underscore: return zoomBy(1 / kKeyZoom), true;
    case Qt::Key_A:
    case Qt::Key_Left: return pan(-1);
    case Qt::Key_D:
    case Qt::Key_Right: return pan(1);
    case Qt::Key_Up: return selectOnOtherRow(-1), true;
    case Qt::Key_Down: return selectOnOtherRow(1), true;
    case Qt::Key_PageUp: return verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub), true;
    case Qt::Key_PageDown: return verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd), true;
    case Qt::Key_0:
    case Qt::Key_Home: return fit(), true;
    case Qt::Key_Backspace: return goBack(), true;
    default: return false;
    }
}

bool TimelineView::act(int key, Qt::KeyboardModifiers modifiers)
{
    if (modifiers != Qt::NoModifier)
        return false;
    switch (key) {
    case Qt::Key_F: {
        const SliceRef slice = m_scene.selection.slice;
        if (slice.valid() && slice == m_revealed) {
            const SliceColumns& slices = m_scene.loaded->trace.track(slice.track).slices;
            showSpan({slices.startNs[slice.index], slices.endNs(slice.index)}, 0.02);
        } else {
            reveal();
            m_revealed = slice;
        }
        return true;
    }
    case Qt::Key_Period: return selectNeighbour(1), true;
    case Qt::Key_Comma: return selectNeighbour(-1), true;
    case Qt::Key_BracketRight: emit stepRequested(1); return true;
    case Qt::Key_BracketLeft: emit stepRequested(-1); return true;
    case Qt::Key_R: return rangeFromSelection(), true;
    case Qt::Key_Q: emit detailsToggled(); return true;
    case Qt::Key_Escape:
        // First what is on top: the range, then the selection.
        if (m_scene.range)
            m_context->setRange(std::nullopt);
        else if (!m_scene.selection.empty())
            m_context->clearSelection();
        else
            return false;
        return true;
    default: return false;
    }
}

}  // namespace fp8scope::gui
