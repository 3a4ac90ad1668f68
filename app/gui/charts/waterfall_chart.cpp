// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/charts/waterfall_chart.h"

#include "app/gui/text.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui
{

using namespace Qt::StringLiterals;

namespace
{

constexpr double kBarShare = 0.66;
constexpr double kRoomForLabels = 1.14;
constexpr int kLabelGap = 4;
constexpr int kTopMargin = 4;
constexpr int kRightMargin = 6;
constexpr int kNameGap = 6;

/// The name on as few lines as fit `width`; a word that is too long alone is elided.
QString wrapped(const QString& name, double width, const QFontMetricsF& metrics)
{
    QStringList lines;
    for (const QString& word : name.split(u' ', Qt::SkipEmptyParts)) {
        if (!lines.isEmpty() && metrics.horizontalAdvance(lines.last() + u' ' + word) <= width)
            lines.last() += u' ' + word;
        else
            lines.append(metrics.elidedText(word, Qt::ElideRight, width));
    }
    return lines.join(u'\n');
}

QString signedText(const TimeUnit& unit, double ns)
{
    return ns < 0 ? QString(u"\u2212"_s + unit.format(-ns)) : QString(u"+"_s + unit.format(ns));
}

}  // namespace

WaterfallChart::WaterfallChart(QWidget* parent) : ChartWidget(parent)
{
    xAxis->grid()->setVisible(false);
    yAxis->ticker()->setTickCount(4);
    setMouseTracking(true);
}

void WaterfallChart::setAccount(const analysis::SpeedupAccount& account)
{
    m_account = account;
    clearItems();
    clearPlottables();
    m_columns.clear();
    m_connectors.clear();
    m_unit = unitFor(std::max(account.fromNs, account.toNs));

    double level = static_cast<double>(account.fromNs);
    addColumn(tr("%1 step").arg(toQt(account.fromMode)), 0, level, true);
    for (const analysis::AccountBar& bar : account.bars) {
        addColumn(toQt(bar.name), level, level + static_cast<double>(bar.deltaNs), false);
        level += static_cast<double>(bar.deltaNs);
    }
    addColumn(tr("%1 step").arg(toQt(account.toMode)), 0, level, true);
    setRanges();
    restyle(currentTheme());
    prepare(width());
    replot(rpQueuedReplot);
}

void WaterfallChart::addColumn(const QString& name, double fromNs, double toNs, bool isStep)
{
    const auto x = static_cast<double>(m_columns.size());
    auto* bar = new QCPBars(xAxis, yAxis);
    bar->setWidth(kBarShare);
    bar->setBaseValue(fromNs / m_unit.ns);
    bar->addData(x, (toNs - fromNs) / m_unit.ns);
    auto* label = new QCPItemText(this);
    label->setClipToAxisRect(false);
    label->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
    label->position->setCoords(x, std::max(fromNs, toNs) / m_unit.ns);
    label->setPadding(QMargins(0, 0, 0, kLabelGap - 2));
    label->setText(isStep ? m_unit.format(toNs) : signedText(m_unit, toNs - fromNs));
    if (!m_columns.empty()) {
        const double level = (isStep ? toNs : fromNs) / m_unit.ns;
        auto* line = new QCPItemLine(this);
        line->start->setCoords(x - 1 + kBarShare / 2, level);
        line->end->setCoords(x - kBarShare / 2, level);
        m_connectors.push_back(line);
    }
    m_columns.push_back({name, fromNs, toNs, isStep, bar, label});
}

void WaterfallChart::setRanges()
{
    double low = 0;
    double high = 1;
    for (const Column& column : m_columns) {
        low = std::min({low, column.fromNs, column.toNs});
        high = std::max({high, column.fromNs, column.toNs});
    }
    xAxis->setRange(-0.5, static_cast<double>(m_columns.size()) - 0.5);
    yAxis->setRange(low / m_unit.ns, high * kRoomForLabels / m_unit.ns);
}

void WaterfallChart::restyle(const Theme& theme)
{
    styleAxis(xAxis, theme, chartFont(11));
    styleAxis(yAxis, theme, chartFont(11));
    for (const Column& column : m_columns) {
        const QColor fill = column.isStep                 ? theme.family(Family::OtherCompute)
                            : column.toNs > column.fromNs ? theme.family(Family::Quantization)
                                                          : theme.good;
        column.bar->setBrush(fill);
        column.bar->setPen(QPen(fill, 0));
        column.label->setFont(chartFont(11));
        column.label->setColor(theme.text);
    }
    for (QCPItemLine* line : m_connectors)
        line->setPen(QPen(theme.dim, 1, Qt::DotLine));
}

void WaterfallChart::prepare(int width)
{
    // Names are wrapped to a column's width, and the space that they take decides the margin: QCustomPlot's automatic
    // margins would need the labels first. So the margins are set here.
    if (m_columns.empty())
        return;
    const QFontMetricsF metrics(chartFont(11));
    const int left = static_cast<int>(metrics.horizontalAdvance(m_unit.format(-yAxis->range().upper * m_unit.ns))) + 10;
    const double columnWidth = (width - left - kRightMargin) / static_cast<double>(m_columns.size()) - kNameGap;
    const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    int lines = 1;
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        const QString label = wrapped(m_columns[i].name, columnWidth, metrics);
        lines = std::max(lines, static_cast<int>(label.count(u'\n')) + 1);
        ticker->addTick(static_cast<double>(i), label);
    }
    xAxis->setTicker(ticker);
    axisRect()->setAutoMargins(QCP::msNone);
    axisRect()->setMargins(
        QMargins(left, kTopMargin, kRightMargin, static_cast<int>(metrics.lineSpacing() * lines) + 10));
}

std::optional<int> WaterfallChart::hitAt(const QPointF& place) const
{
    const double x = xAxis->pixelToCoord(place.x());
    const auto column = static_cast<int>(std::lround(x));
    if (column < 0 || column >= static_cast<int>(m_columns.size()) || std::abs(x - column) > 0.5 ||
        !axisRect()->rect().adjusted(0, 0, 0, axisRect()->margins().bottom()).contains(place.toPoint()))
        return std::nullopt;
    return column - 1;
}

QString WaterfallChart::tooltipAt(const QPointF& place) const
{
    const auto hit = hitAt(place);
    if (!hit)
        return {};
    const Column& column = m_columns[static_cast<std::size_t>(*hit + 1)];
    if (column.isStep)
        return tr("%1: %2").arg(column.name, timeText(std::llround(column.toNs)));
    const analysis::AccountBar& bar = m_account.bars[static_cast<std::size_t>(*hit)];
    const QString change = (bar.deltaNs < 0 ? u"\u2212"_s : u"+"_s) + timeText(std::abs(bar.deltaNs));
    return tr("%1: %2. %3").arg(column.name, change, toQt(bar.explanation));
}

void WaterfallChart::mouseReleaseEvent(QMouseEvent* event)
{
    ChartWidget::mouseReleaseEvent(event);
    if (const auto hit = hitAt(event->position()); hit && event->button() == Qt::LeftButton)
        emit clicked(*hit);
}

void WaterfallChart::mouseMoveEvent(QMouseEvent* event)
{
    ChartWidget::mouseMoveEvent(event);
    setCursor(hitAt(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

}  // namespace fp8scope::gui
