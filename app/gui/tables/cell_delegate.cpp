// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/cell_delegate.h"

#include "app/gui/tables/table_model.h"
#include "app/gui/theme.h"

#include <QPainter>

namespace fp8scope::gui {

namespace {

constexpr int kPadding = 7;
constexpr int kSwatch = 10;
constexpr int kBarHeight = 3;
constexpr int kWidestText = 320;  // a kernel's name can have thousands of characters

}  // namespace

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const Theme& theme = currentTheme();
    painter->save();
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, theme.highlight());
    QRect area = option.rect.adjusted(kPadding, 0, -kPadding, 0);
    const QColor swatch = index.data(TableModel::SwatchRole).value<QColor>();
    const double bar = index.data(TableModel::BarRole).toDouble();
    if (bar >= 0) {
        const QRect track(area.left(), area.bottom() - kBarHeight - 2, area.width(), kBarHeight);
        painter->fillRect(track, theme.line);
        painter->fillRect(
            QRect(track.topLeft(), QSize(static_cast<int>(track.width() * std::min(1.0, bar)), kBarHeight)), swatch);
        area.setBottom(track.top());
    } else if (swatch.isValid()) {
        painter->fillRect(QRect(area.left(), area.center().y() - kSwatch / 2, kSwatch, kSwatch), swatch);
        area.setLeft(area.left() + kSwatch + 6);
    }
    painter->setPen(theme.text);
    painter->setFont(option.font);
    const bool numeric = index.data(TableModel::NumericRole).toBool();
    const QString text = option.fontMetrics.elidedText(index.data(Qt::DisplayRole).toString(),
                                                       numeric ? Qt::ElideRight : Qt::ElideMiddle, area.width());
    painter->drawText(area, static_cast<int>(Qt::AlignVCenter | (numeric ? Qt::AlignRight : Qt::AlignLeft)), text);
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    int width = option.fontMetrics.horizontalAdvance(index.data(Qt::DisplayRole).toString()) + 2 * kPadding + 2;
    if (index.data(TableModel::SwatchRole).value<QColor>().isValid() && index.data(TableModel::BarRole).toDouble() < 0)
        width += kSwatch + 6;
    return {std::min(width, kWidestText), option.fontMetrics.height() + 11};
}

}  // namespace fp8scope::gui
