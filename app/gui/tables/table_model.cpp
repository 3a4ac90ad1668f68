// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/table_model.h"

namespace fp8scope::gui {

int TableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : rows(); }

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(columns().size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Column& column = columns()[static_cast<std::size_t>(index.column())];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((column.numeric ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == NumericRole)
        return column.numeric;
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole && role != BarRole && role != SwatchRole)
        return {};
    const Cell content = cell(index.row(), index.column());
    switch (role) {
    case Qt::DisplayRole: return content.text;
    case Qt::ToolTipRole: return content.tooltip.isEmpty() ? QVariant() : QVariant(content.tooltip);
    case SortRole: return content.sort.isValid() ? content.sort : QVariant(content.text);
    case BarRole: return content.bar;
    case SwatchRole: return content.swatch;
    default: return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const Column& column = columns()[static_cast<std::size_t>(section)];
    switch (role) {
    case Qt::DisplayRole:
        return column.group.isEmpty() ? column.title : QString(column.group + QChar::LineFeed + column.title);
    case Qt::ToolTipRole: return column.tooltip.isEmpty() ? QVariant() : QVariant(column.tooltip);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((column.numeric ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::InitialSortOrderRole: return column.numeric ? Qt::DescendingOrder : Qt::AscendingOrder;
    case NumericRole: return column.numeric;
    case GroupRole: return column.group;
    default: return {};
    }
}

}  // namespace fp8scope::gui
