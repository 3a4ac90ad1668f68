// SPDX-License-Identifier: GPL-3.0-or-later
// A table with its filter box: sorting, filtering, choice of columns, copying as tab-separated text. What Layers and
// Kernels share.
#pragma once

#include "app/gui/tables/filter_proxy.h"
#include "app/gui/tables/table_model.h"

#include <QTableView>
#include <QWidget>

class QLabel;
class QLineEdit;

namespace fp8scope::gui {

class TableView : public QWidget {
    Q_OBJECT
public:
    /// `model` is not owned.
    TableView(TableModel* model, const QString& title, QWidget* parent = nullptr);

    [[nodiscard]] QTableView* table() const { return m_table; }
    [[nodiscard]] FilterProxy* proxy() const { return m_proxy; }
    [[nodiscard]] QLineEdit* filterBox() const { return m_filter; }
    /// Makes the row of the source model current and scrolls to it; -1 clears the selection. Emits nothing.
    void showRow(int sourceRow);
    /// The selected rows, or all shown where none is selected, with a header line.
    [[nodiscard]] QString asTabSeparated() const;
    /// In place of the table, for when there is nothing to show; empty shows the table again.
    void setEmptyText(const QString& text);

protected:
    void showEvent(QShowEvent* event) override;

signals:
    /// The user made a row current. `sourceRow` and `column` are the model's.
    void rowChosen(int sourceRow, int column);
    /// Double click or Enter on a row.
    void rowActivated(int sourceRow, int column);

private:
    void setUpTable();
    void applyFilter(const QString& text);
    void updateCount();
    void fitColumns();
    void showHeaderMenu(const QPoint& where);
    void showCellMenu(const QPoint& where);
    void copy() const;
    void onCurrentChanged(const QModelIndex& current);

    TableModel* m_model;
    FilterProxy* m_proxy;
    QTableView* m_table;
    QLineEdit* m_filter;
    QLabel* m_count;
    QLabel* m_empty;
    bool m_shown = false;
    bool m_quiet = false;  ///< showRow is at work: the change is not the user's
};

}  // namespace fp8scope::gui
