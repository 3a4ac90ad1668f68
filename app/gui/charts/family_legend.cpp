// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/charts/family_legend.h"

#include "app/gui/text.h"
#include "app/gui/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace fp8scope::gui {

namespace {

constexpr int kRowHeight = 19;
constexpr int kSwatch = 11;
constexpr int kTextLeft = 17;
constexpr int kEntryWidth = 136;

}  // namespace

FamilyLegend::FamilyLegend(QWidget* parent) : QWidget(parent)
{
    setCursor(Qt::PointingHandCursor);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void FamilyLegend::setFamilies(std::vector<Family> families)
{
    m_families = std::move(families);
    updateGeometry();
    update();
}

int FamilyLegend::columnsIn(int width) const { return std::max(1, width / kEntryWidth); }

int FamilyLegend::heightForWidth(int width) const
{
    const int columns = columnsIn(width);
    return (static_cast<int>(m_families.size()) + columns - 1) / columns * kRowHeight;
}

QSize FamilyLegend::sizeHint() const { return {kEntryWidth * 2, heightForWidth(std::max(width(), kEntryWidth * 2))}; }

QRect FamilyLegend::entryRect(int index) const
{
    const int columns = columnsIn(width());
    const int entryWidth = width() / columns;
    return {index % columns * entryWidth, index / columns * kRowHeight, entryWidth, kRowHeight};
}

void FamilyLegend::paintEvent(QPaintEvent*)
{
    const Theme& theme = currentTheme();
    QPainter painter(this);
    QFont small = font();
    small.setPixelSize(12);
    painter.setFont(small);
    for (int i = 0; i < static_cast<int>(m_families.size()); ++i) {
        const Family family = m_families[static_cast<std::size_t>(i)];
        const QRect entry = entryRect(i);
        const QRect swatch(entry.left(), entry.top() + (kRowHeight - kSwatch) / 2, kSwatch, kSwatch);
        painter.fillRect(swatch, theme.familyBrush(family));
        painter.setPen(theme.family(family));
        painter.drawRect(swatch.adjusted(0, 0, -1, -1));
        painter.setPen(theme.dim);
        const QRect text = entry.adjusted(kTextLeft, 0, -4, 0);
        painter.drawText(text, Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(familyText(family), Qt::ElideRight, text.width()));
    }
}

void FamilyLegend::mouseReleaseEvent(QMouseEvent* event)
{
    for (int i = 0; i < static_cast<int>(m_families.size()); ++i)
        if (entryRect(i).contains(event->position().toPoint()))
            emit clicked(m_families[static_cast<std::size_t>(i)]);
}

}  // namespace fp8scope::gui
