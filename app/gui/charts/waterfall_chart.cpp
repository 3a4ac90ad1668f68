// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/charts/waterfall_chart.h"

#include "app/gui/text.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr double kBarShare = 0.66;
constexpr double kRoomForLabels = 1.14;
constexpr int kLabelGap = 2;
constexpr double kSmallShare = 0.01;  // of the longer step: bars below share a column
constexpr int kTopMargin = 4;
constexpr int kRightMargin = 6;
constexpr int kNameGap = 2;

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

    const auto fromNs = static_cast<double>(account.fromNs);
    const QString from = tr("%1 step").arg(toQt(account.fromMode));
    const QString to = tr("%1 step").arg(toQt(account.toMode));
    addColumn({from, 0, fromNs, -1, tr("%1: %2").arg(from, timeText(account.fromNs))});
    const double level = addBars(fromNs);
    addColumn({to, 0, level, static_cast<int>(account.bars.size()), tr("%1: %2").arg(to, timeText(account.toNs))});
    setRanges();
    restyle(currentTheme());
    prepare(width());
    replot(rpQueuedReplot);
}

double WaterfallChart::addBars(double level)
{
    const double small = kSmallShare * static_cast<double>(std::max(m_account.fromNs, m_account.toNs));
    double smallNs = 0;
    QStringList smallNames;
    for (std::size_t i = 0; i < m_account.bars.size(); ++i) {
        const analysis::AccountBar& bar = m_account.bars[i];
        const auto ns = static_cast<double>(bar.deltaNs);
        const QString change = (bar.deltaNs < 0 ? u"\u2212"_s : u"+"_s) + timeText(std::abs(bar.deltaNs));
        if (std::abs(ns) < small) {
            smallNs += ns;
            smallNames.append(tr("%1 %2").arg(toQt(bar.name), change));
            continue;
        }
        const QString tip = tr("%1: %2. %3").arg(toQt(bar.name), change, toQt(bar.explanation));
        addColumn({toQt(bar.name), level, level + ns, static_cast<int>(i), tip});
        level += ns;
    }
    if (!smallNames.isEmpty()) {
        addColumn({tr("small ones"), level, level + smallNs, kSmallBars, smallNames.join(u'\n')});
        level += smallNs;
    }
    return level;
}

bool WaterfallChart::isStep(const Column& column) const
{
    return column.account == -1 || column.account == static_cast<int>(m_account.bars.size());
}

void WaterfallChart::addColumn(Column column)
{
    const auto x = static_cast<double>(m_columns.size());
    column.bar = new QCPBars(xAxis, yAxis);
    column.bar->setWidth(kBarShare);
    column.bar->setBaseValue(column.fromNs / m_unit.ns);
    column.bar->addData(x, (column.toNs - column.fromNs) / m_unit.ns);
    column.label = new QCPItemText(this);
    column.label->setClipToAxisRect(false);
    column.label->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
    column.label->position->setCoords(x, std::max(column.fromNs, column.toNs) / m_unit.ns);
    column.label->setPadding(QMargins(0, 0, 0, kLabelGap));
    column.label->setText(isStep(column) ? m_unit.format(column.toNs)
                                         : signedText(m_unit, column.toNs - column.fromNs));
    if (!m_columns.empty()) {
        const double level = (isStep(column) ? column.toNs : column.fromNs) / m_unit.ns;
        auto* line = new QCPItemLine(this);
        line->start->setCoords(x - 1 + kBarShare / 2, level);
        line->end->setCoords(x - kBarShare / 2, level);
        m_connectors.push_back(line);
    }
    m_columns.push_back(std::move(column));
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
        const QColor fill = isStep(column)                ? theme.family(Family::OtherCompute)
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

const WaterfallChart::Column* WaterfallChart::columnAt(const QPointF& place) const
{
    const double x = xAxis->pixelToCoord(place.x());
    const auto column = static_cast<int>(std::lround(x));
    const QRect area = axisRect()->rect().adjusted(0, 0, 0, axisRect()->margins().bottom());
    if (column < 0 || column >= static_cast<int>(m_columns.size()) || !area.contains(place.toPoint()))
        return nullptr;
    return &m_columns[static_cast<std::size_t>(column)];
}

std::optional<int> WaterfallChart::hitAt(const QPointF& place) const
{
    const Column* column = columnAt(place);
    return column ? std::optional(column->account) : std::nullopt;
}

QString WaterfallChart::tooltipAt(const QPointF& place) const
{
    const Column* column = columnAt(place);
    return column ? column->tooltip : QString();
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
