// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/charts/chart_widget.h"

#include <QEvent>
#include <QHelpEvent>
#include <QToolTip>

#include <cmath>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

QString TimeUnit::format(double valueNs) const
{
    const double value = valueNs / ns;
    const double size = std::abs(value);
    const int digits = size >= 99.95 || value == 0 ? 0 : size >= 9.995 ? 1 : 2;
    return QLocale::c().toString(value, 'f', digits);
}

TimeUnit unitFor(std::int64_t largestNs)
{
    const double largest = static_cast<double>(std::abs(largestNs));
    if (largest >= 2e9)
        return {u"s"_s, 1e9};
    if (largest >= 1e6)
        return {u"ms"_s, 1e6};
    return largest >= 1e3 ? TimeUnit{u"\u00b5s"_s, 1e3} : TimeUnit{u"ns"_s, 1};
}

ChartWidget::ChartWidget(QWidget* parent) : QCustomPlot(parent)
{
    setInteractions({});
    setNoAntialiasingOnDrag(true);
    setNotAntialiasedElements(QCP::aeGrid | QCP::aeAxes | QCP::aePlottables | QCP::aeItems);
    setSelectionTolerance(3);
    legend->setVisible(false);
    setBackground(Qt::transparent);
    setAttribute(Qt::WA_OpaquePaintEvent, false);
    setMouseTracking(false);
    connect(this, &QCustomPlot::afterLayout, this, [this] { fitLabels(); });
}

QFont ChartWidget::chartFont(int pixelSize) const
{
    QFont font = QApplication::font();
    font.setPixelSize(pixelSize);
    font.setHintingPreference(QFont::PreferNoHinting);  // the same widths on screen and on paper
    return font;
}

void ChartWidget::styleAxis(QCPAxis* axis, const Theme& theme, const QFont& font) const
{
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelColor(theme.dim);
    axis->setTickLabelFont(font);
    axis->grid()->setPen(QPen(theme.line, 1));
    axis->grid()->setZeroLinePen(QPen(theme.line, 1));
}

void ChartWidget::changeEvent(QEvent* event)
{
    QCustomPlot::changeEvent(event);
    if (event->type() != QEvent::PaletteChange && event->type() != QEvent::StyleChange)
        return;
    restyle(currentTheme());
    replot(rpQueuedReplot);
}

void ChartWidget::resizeEvent(QResizeEvent* event)
{
    prepare(width());
    QCustomPlot::resizeEvent(event);
}

bool ChartWidget::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QCustomPlot::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = tooltipAt(help->pos());
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), text, this);
    return true;
}

void ChartWidget::render(QCPPainter& painter, const QRect& area)
{
    restyle(lightTheme());
    prepare(area.width());
    painter.save();
    painter.translate(area.topLeft());
    painter.setMode(QCPPainter::pmVectorized);
    toPainter(&painter, area.width(), area.height());
    painter.restore();
}

}  // namespace fp8scope::gui
