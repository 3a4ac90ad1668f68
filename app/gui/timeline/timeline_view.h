// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline's widget: owns the scene, turns mouse, wheel and keys into changes of it, and keeps it in step with the
// context.
#pragma once

#include "app/gui/timeline/timeline_painter.h"
#include "app/gui/timeline/timeline_scene.h"
#include "app/gui/timeline/view_history.h"

#include <QAbstractScrollArea>
#include <QElapsedTimer>

namespace fp8scope::gui {

class TimelineView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TimelineView(Context* context, QWidget* parent = nullptr);

    [[nodiscard]] const TimelineScene& scene() const { return m_scene; }
    [[nodiscard]] const TimelineIndex& index() const { return m_index; }
    /// The part of the time that is seen.
    [[nodiscard]] TimeSpan visibleSpan() const;

    /// Shows the whole trace.
    void fit();
    /// Zooms around the middle; factor > 1 shows less.
    void zoomBy(double factor);
    /// Shows a range with a margin, as one jump that "back" undoes. `margin` is a share of its length.
    void showSpan(const TimeSpan& span, double margin = 0.05);
    /// Moves the view without a trace in the history, as the minimap does while it is dragged.
    void centreOn(double ns);
    /// Scrolls and zooms to the selection: its slice, else the first slice that it means, else the range.
    void reveal();
    /// Scrolls so that the rows of a run are seen.
    void showRun(RunId run);
    void goBack();
    void goForward();
    /// Selects the slice `direction` places further on the row of the selected one; without one, the first that the
    /// selection means.
    void selectNeighbour(int direction);
    /// Selects the slice nearest in time on the next row with slices, down (1) or up (-1).
    void selectOnOtherRow(int direction);
    /// Makes the range the selected slice, or the step under the mouse.
    void rangeFromSelection();
    void setCollapsed(const std::string& key, bool collapsed);

signals:
    /// Zoom or position in time differ.
    void viewChanged();
    void stepRequested(int direction);
    void detailsToggled();

protected:
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    enum class Drag { None, Pressed, Range, Pan };

    void loadedChanged();
    void selectionChanged();
    void rebuildRows();
    void updateScrollBar();
    /// Everything but range and hover: draws the rows anew.
    void redraw();
    void viewMoved();
    [[nodiscard]] TimelineViewport currentView() const;
    void goTo(const TimelineViewport& target);
    /// Remembers the view before a jump, or before the first of a burst of small moves.
    void remember(bool burst);
    [[nodiscard]] SliceRef firstMeant();
    void select(SliceRef slice);
    void revealSlice(SliceRef slice, bool zoom);
    void scrollToRow(const Row& row);
    void clicked(QPoint point);
    void setHover(const Hit& hit);
    bool navigate(int key, Qt::KeyboardModifiers modifiers);
    bool act(int key, Qt::KeyboardModifiers modifiers);

    Context* m_context;
    TimelineIndex m_index;
    TimelineScene m_scene;
    TimelinePainter m_painter;
    ViewHistory m_history;
    QElapsedTimer m_lastMove;
    Drag m_drag = Drag::None;
    QPoint m_pressPoint;
    QPoint m_dragPoint;
    SliceRef m_revealed;  ///< F on it again fits it
};

}  // namespace fp8scope::gui
