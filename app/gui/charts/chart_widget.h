// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts share: a QCustomPlot in a theme's colours that is not dragged or zoomed, on screen and as vectors on
// paper.
#pragma once

#include "app/gui/qcustomplot.h"
#include "app/gui/theme.h"

#include <QRect>
#include <QString>

#include <cstdint>

namespace fp8scope::gui {

/// The unit that a chart's axis and labels are in, chosen by its largest value.
struct TimeUnit {
    QString name;  ///< "ms"
    double ns = 1e6;
    /// With as many digits as tell values apart: "64.5", "4.02", "120".
    [[nodiscard]] QString format(double valueNs) const;
};
[[nodiscard]] TimeUnit unitFor(std::int64_t largestNs);

class ChartWidget : public QCustomPlot {
    Q_OBJECT
public:
    explicit ChartWidget(QWidget* parent = nullptr);
    /// Draws the chart as vectors into `area` of a page whose units are CSS pixels, in the light theme.
    void render(QCPPainter& painter, const QRect& area);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;
    /// Sets every colour and font anew.
    virtual void restyle(const Theme& theme) = 0;
    /// Before the chart is laid out in this width.
    virtual void prepare(int) {}
    /// After the axes know their pixels and before drawing: labels that do not fit are hidden here.
    virtual void fitLabels() {}
    /// What the tooltip says at a place, empty for nothing.
    [[nodiscard]] virtual QString tooltipAt(const QPointF& place) const = 0;

    void styleAxis(QCPAxis* axis, const Theme& theme, const QFont& font) const;
    [[nodiscard]] QFont chartFont(int pixelSize) const;
};

}  // namespace fp8scope::gui
