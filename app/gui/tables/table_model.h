// SPDX-License-Identifier: GPL-3.0-or-later
// The base of the app's tables: a table is its columns and its cells. Qt's index code is sealed here.
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QString>
#include <QVariant>

#include <vector>

namespace fp8scope::gui {

struct Column {
    QString title;
    QString group;         ///< a run's mode above the title, where columns are grouped by run
    QString tooltip;       ///< what is in it and how it is computed
    bool numeric = false;  ///< right-aligned, sorted downwards first
};

struct Cell {
    QString text;
    QVariant sort;    ///< raw value; the text sorts where it is invalid
    double bar = -1;  ///< 0 to 1: a bar behind the text; below 0: none
    QColor swatch;    ///< a square of this colour before the text; the bar's colour where there is a bar
    QString tooltip;
};

class TableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role { SortRole = Qt::UserRole, BarRole, SwatchRole, NumericRole, GroupRole };

    using QAbstractTableModel::QAbstractTableModel;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const final;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const final;

protected:
    [[nodiscard]] virtual int rows() const = 0;
    [[nodiscard]] virtual const std::vector<Column>& columns() const = 0;
    [[nodiscard]] virtual Cell cell(int row, int column) const = 0;
};

}  // namespace fp8scope::gui
