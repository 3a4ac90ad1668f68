// SPDX-License-Identifier: GPL-3.0-or-later
// Paints table cells: a bar along the cell's foot for figures that compare, a colour square for families, text elided.
#pragma once

#include <QStyledItemDelegate>

namespace fp8scope::gui {

class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace fp8scope::gui
