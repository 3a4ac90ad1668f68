// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame/rail_item.h"

#include "app/gui/theme.h"

#include <QPainter>

namespace fp8scope::gui {

namespace {

constexpr double kDisabled = 0.55;

}  // namespace

RailItem::RailItem(const QString& title, const QKeySequence& shortcut, QWidget* parent) : QAbstractButton(parent)
{
    setText(title);
    setAccessibleName(title);
    setCheckable(true);
    setAutoExclusive(true);
    setCursor(Qt::PointingHandCursor);
    setToolTip(tr("%1 (%2)").arg(title, shortcut.toString(QKeySequence::NativeText)));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAttribute(Qt::WA_Hover);
}

void RailItem::setBadge(int count)
{
    m_badge = count;
    setAccessibleDescription(count > 0 ? tr("findings: %1").arg(count) : QString());
    update();
}

QSize RailItem::sizeHint() const { return {111, 29}; }

void RailItem::paintEvent(QPaintEvent*)
{
    const Theme& theme = currentTheme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setOpacity(isEnabled() ? 1.0 : kDisabled);
    painter.setPen(hasFocus() ? QPen(theme.accent) : QPen(Qt::NoPen));
    if (isChecked() || underMouse() || hasFocus()) {
        painter.setBrush(isChecked() || underMouse() ? QBrush(theme.highlight()) : Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
    const QColor colour = isChecked() ? theme.accent : theme.dim;
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawEllipse(QPointF(13, height() / 2.0), 3, 3);
    QFont bold = font();
    bold.setBold(isChecked());
    painter.setFont(bold);
    painter.setPen(colour);
    painter.drawText(rect().adjusted(24, 0, -8, 0), Qt::AlignVCenter | Qt::AlignLeft, text());
    if (m_badge > 0 && isEnabled())
        paintBadge(painter);
}

void RailItem::paintBadge(QPainter& painter) const
{
    const Theme& theme = currentTheme();
    QFont small = font();
    small.setPixelSize(11);
    small.setBold(true);
    painter.setFont(small);
    const QString count = QString::number(m_badge);
    const double width = std::max(19.0, painter.fontMetrics().horizontalAdvance(count) + 12.0);
    const QRectF badge(rect().right() - width - 9, (height() - 14) / 2.0, width, 14);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.warn);
    painter.drawRoundedRect(badge, 7, 7);
    painter.setPen(Theme::textOn(theme.warn));
    painter.drawText(badge, Qt::AlignCenter, count);
}

}  // namespace fp8scope::gui
