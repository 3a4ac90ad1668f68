// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/charts/family_chart.h"

#include "app/gui/text.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr int kBarPixels = 46;      // a bar and the space to the next
constexpr double kBarShare = 0.66;  // of it, the bar
constexpr double kRoomForTotals = 1.17;
constexpr int kLabelMargin = 6;

std::int64_t total(const report::FamilyBars::Bar& bar)
{
    return std::accumulate(bar.ns.begin(), bar.ns.end(), std::int64_t{0});
}

}  // namespace

FamilyChart::FamilyChart(QWidget* parent) : ChartWidget(parent)
{
    xAxis->setVisible(false);
    xAxis->grid()->setVisible(false);
    yAxis->grid()->setVisible(false);
    yAxis->setRangeReversed(true);
    axisRect()->setMinimumMargins(QMargins(4, 2, 2, 2));
    setCursor(Qt::ArrowCursor);
    setMouseTracking(true);
}

double FamilyChart::keyOf(std::size_t bar) const { return static_cast<double>(bar); }

void FamilyChart::setBars(report::FamilyBars bars)
{
    m_bars = std::move(bars);
    clearItems();
    clearPlottables();
    m_series.fill(nullptr);
    m_labels.clear();
    m_labelFamilies.clear();
    std::int64_t largest = 0;
    for (const auto& bar : m_bars.bars)
        largest = std::max(largest, total(bar));
    m_unit = unitFor(largest);
    addSeries();
    addLabels();

    const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    for (std::size_t i = 0; i < m_bars.bars.size(); ++i)
        ticker->addTick(keyOf(i), toQt(m_bars.bars[i].mode));
    yAxis->setTicker(ticker);
    yAxis->setRange(-0.5, static_cast<double>(std::max<std::size_t>(1, m_bars.bars.size())) - 0.5);
    xAxis->setRange(0, static_cast<double>(std::max<std::int64_t>(1, largest)) * kRoomForTotals);
    restyle(currentTheme());
    replot(rpQueuedReplot);
}

void FamilyChart::addSeries()
{
    QCPBars* below = nullptr;
    for (const Family family : shownFamilies()) {
        auto* series = new QCPBars(yAxis, xAxis);
        series->setWidth(kBarShare);
        series->setStackingGap(1);
        for (std::size_t i = 0; i < m_bars.bars.size(); ++i)
            series->addData(keyOf(i), static_cast<double>(m_bars.bars[i].ns[static_cast<std::size_t>(family)]));
        if (below)
            series->moveAbove(below);
        m_series[static_cast<std::size_t>(family)] = series;
        below = series;
    }
}

void FamilyChart::addLabels()
{
    for (std::size_t i = 0; i < m_bars.bars.size(); ++i) {
        double start = 0;
        const auto addLabel = [&](double x, double ns, Family family, const QString& text, Qt::Alignment alignment) {
            auto* item = new QCPItemText(this);
            item->setPositionAlignment(alignment);
            item->setClipToAxisRect(false);
            item->position->setCoords(x, keyOf(i));
            item->setText(text);
            m_labels.push_back({item, ns});
            m_labelFamilies.push_back(family);
        };
        for (const Family family : shownFamilies()) {
            const auto ns = static_cast<double>(m_bars.bars[i].ns[static_cast<std::size_t>(family)]);
            if (ns > 0)
                addLabel(start + ns / 2, ns, family, m_unit.format(ns), Qt::AlignCenter);
            start += ns;
        }
        const QString text = i == 0 ? QString(m_unit.format(start) + u' ' + m_unit.name) : m_unit.format(start);
        addLabel(start, 0, Family::Idle, u"  "_s + text, Qt::AlignLeft | Qt::AlignVCenter);
    }
}

std::vector<Family> FamilyChart::shownFamilies() const
{
    std::vector<Family> families;
    for (std::size_t f = 0; f < kFamilyCount; ++f)
        if (std::any_of(m_bars.bars.begin(), m_bars.bars.end(), [f](const auto& bar) { return bar.ns[f] > 0; }))
            families.push_back(static_cast<Family>(f));
    return families;
}

void FamilyChart::setHighlighted(std::optional<Family> family)
{
    if (m_highlighted == family)
        return;
    m_highlighted = family;
    restyle(currentTheme());
    replot(rpQueuedReplot);
}

int FamilyChart::heightFor(std::size_t bars)
{
    return static_cast<int>(std::max<std::size_t>(1, bars)) * kBarPixels + 6;
}

void FamilyChart::restyle(const Theme& theme)
{
    styleAxis(yAxis, theme, chartFont(12));
    yAxis->setTickLabelColor(theme.text);
    for (std::size_t f = 0; f < kFamilyCount; ++f) {
        if (!m_series[f])
            continue;
        const auto family = static_cast<Family>(f);
        const bool outlined = m_highlighted == family;
        m_series[f]->setBrush(theme.familyBrush(family));
        m_series[f]->setPen(outlined ? QPen(theme.text, 2) : QPen(theme.family(family), 0));
    }
    for (std::size_t i = 0; i < m_labels.size(); ++i) {
        const bool isTotal = m_labels[i].ns <= 0;
        m_labels[i].item->setFont(chartFont(11));
        const bool patterned = m_labelFamilies[i] == Family::Idle || m_labelFamilies[i] == Family::Unknown;
        m_labels[i].item->setColor(isTotal     ? theme.dim
                                   : patterned ? theme.text
                                               : Theme::textOn(theme.family(m_labelFamilies[i])));
    }
}

void FamilyChart::fitLabels()
{
    const QFontMetricsF metrics(chartFont(11));
    for (const Label& label : m_labels) {
        if (label.ns <= 0)
            continue;
        const double pixels = xAxis->coordToPixel(label.ns) - xAxis->coordToPixel(0);
        label.item->setVisible(pixels > metrics.horizontalAdvance(label.item->text()) + kLabelMargin);
    }
}

std::optional<FamilyChart::Hit> FamilyChart::hitAt(const QPointF& place) const
{
    const double key = yAxis->pixelToCoord(place.y());
    const auto bar = static_cast<int>(std::lround(key));
    if (bar < 0 || bar >= static_cast<int>(m_bars.bars.size()) || std::abs(key - bar) > kBarShare / 2)
        return std::nullopt;
    double left = xAxis->pixelToCoord(place.x());
    if (left < 0)
        return std::nullopt;
    const auto& ns = m_bars.bars[static_cast<std::size_t>(bar)].ns;
    for (std::size_t f = 0; f < kFamilyCount; ++f) {
        left -= static_cast<double>(ns[f]);
        if (left < 0)
            return Hit{bar, static_cast<Family>(f)};
    }
    return std::nullopt;
}

QString FamilyChart::tooltipAt(const QPointF& place) const
{
    const auto hit = hitAt(place);
    if (!hit)
        return {};
    const report::FamilyBars::Bar& bar = m_bars.bars[static_cast<std::size_t>(hit->bar)];
    const std::int64_t ns = bar.ns[static_cast<std::size_t>(hit->family)];
    const double share = static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, total(bar)));
    return tr("%1, %2: %3 exposed a step, %4 of it. Click to see it on the timeline.")
        .arg(toQt(bar.mode), familyText(hit->family), timeText(ns), toQt(analysis::formatPercent(share)));
}

void FamilyChart::mouseReleaseEvent(QMouseEvent* event)
{
    ChartWidget::mouseReleaseEvent(event);
    if (const auto hit = hitAt(event->position()); hit && event->button() == Qt::LeftButton)
        emit clicked(hit->bar, hit->family);
}

void FamilyChart::mouseMoveEvent(QMouseEvent* event)
{
    ChartWidget::mouseMoveEvent(event);
    setCursor(hitAt(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

}  // namespace fp8scope::gui
