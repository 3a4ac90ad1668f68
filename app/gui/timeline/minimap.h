// SPDX-License-Identifier: GPL-3.0-or-later
// The whole trace in one strip, by family, with the part that the timeline shows. A click or a drag moves that part.
#pragma once

#include "app/gui/timeline/timeline_view.h"

#include <QImage>
#include <QWidget>

namespace fp8scope::gui {

/// Busy time by family and column over all queues of the visible runs; tracks that are not indexed yet are left out.
[[nodiscard]] std::vector<PixelColumn> densityColumns(const TimelineScene& scene, const Context& context,
                                                      double startNs, double nsPerPx, int width);

class Minimap : public QWidget {
    Q_OBJECT
public:
    /// Follows and moves `view`, which must outlive this widget.
    Minimap(Context* context, TimelineView* view, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override { return {400, 36}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void invalidate();
    void drawDensity();
    /// The time under a point of the strip.
    [[nodiscard]] double timeAt(double x) const;
    [[nodiscard]] double xOf(double ns) const;

    Context* m_context;
    TimelineView* m_view;
    QImage m_density;
    double m_grabOffsetNs = 0;  ///< from the middle of the view to where it was grabbed
};

}  // namespace fp8scope::gui
