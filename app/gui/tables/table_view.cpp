// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/table_view.h"

#include "app/gui/panel.h"
#include "app/gui/tables/cell_delegate.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QScopedValueRollback>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr int kHeaderPadding = 20;  // with the room of the sort mark
constexpr int kRowsMeasured = 200;

}  // namespace

TableView::TableView(TableModel* model, const QString& title, QWidget* parent)
    : QWidget(parent), m_model(model), m_proxy(new FilterProxy(this)), m_table(new QTableView(this)),
      m_filter(new QLineEdit(this)), m_count(makeLabel({}, u"dim"_s, this)), m_empty(makeLabel({}, u"dim"_s, this))
{
    m_proxy->setSourceModel(model);
    m_filter->setPlaceholderText(tr("Filter: words, or /expression/"));
    m_filter->setAccessibleName(tr("Filter rows"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setFixedWidth(300);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->hide();

    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(title, u"title"_s, this));
    head->addWidget(m_count);
    head->addStretch(1);
    head->addWidget(m_filter);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addLayout(head);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_empty, 1);

    setUpTable();
    connect(m_filter, &QLineEdit::textChanged, this, &TableView::applyFilter);
    connect(model, &QAbstractItemModel::modelReset, this, [this] {
        fitColumns();
        updateCount();
    });
    updateCount();
}

void TableView::setUpTable()
{
    m_table->setModel(m_proxy);
    m_table->setItemDelegate(new CellDelegate(m_table));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSortingEnabled(true);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 11);
    QHeaderView* header = m_table->horizontalHeader();
    header->setHighlightSections(false);
    header->setSectionsMovable(true);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    header->setSortIndicator(-1, Qt::DescendingOrder);
    connect(header, &QHeaderView::customContextMenuRequested, this, &TableView::showHeaderMenu);

    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_table, &QWidget::customContextMenuRequested, this, &TableView::showCellMenu);
    auto* copyAction = new QAction(tr("Copy"), m_table);
    copyAction->setShortcut(QKeySequence::Copy);
    copyAction->setShortcutContext(Qt::WidgetShortcut);
    connect(copyAction, &QAction::triggered, this, &TableView::copy);
    m_table->addAction(copyAction);
    connect(m_table, &QAbstractItemView::activated, this, [this](const QModelIndex& index) {
        const QModelIndex source = m_proxy->mapToSource(index);
        emit rowActivated(source.row(), source.column());
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &TableView::onCurrentChanged);
}

void TableView::onCurrentChanged(const QModelIndex& current)
{
    if (m_quiet || !current.isValid())
        return;
    const QModelIndex source = m_proxy->mapToSource(current);
    emit rowChosen(source.row(), source.column());
}

void TableView::showRow(int sourceRow)
{
    const QScopedValueRollback quiet(m_quiet, true);
    if (sourceRow < 0) {
        m_table->clearSelection();
        m_table->setCurrentIndex({});
        return;
    }
    const int column = std::max(0, m_table->currentIndex().column());
    const QModelIndex index = m_proxy->mapFromSource(m_model->index(sourceRow, column));
    if (!index.isValid() || index.row() == m_table->currentIndex().row())
        return;  // filtered out, or there already: a range that the user selects stays
    m_table->setCurrentIndex(index);
    m_table->scrollTo(index);
}

void TableView::applyFilter(const QString& text)
{
    m_proxy->setFilterText(text);
    m_filter->setProperty("invalid", !m_proxy->filterError().isEmpty());
    m_filter->setToolTip(m_proxy->filterError());
    m_filter->style()->unpolish(m_filter);
    m_filter->style()->polish(m_filter);
    updateCount();
}

void TableView::updateCount()
{
    if (!m_proxy->filterError().isEmpty())
        m_count->setText(m_proxy->filterError());
    else if (m_proxy->rowCount() == m_model->rowCount())
        m_count->setText(m_model->rowCount() == 1 ? tr("one row") : tr("%1 rows").arg(m_model->rowCount()));
    else
        m_count->setText(tr("%1 of %2 rows").arg(m_proxy->rowCount()).arg(m_model->rowCount()));
}

void TableView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (!m_shown)
        fitColumns();  // the first time that the font is surely known
    m_shown = true;
}

void TableView::fitColumns()
{
    m_table->ensurePolished();  // the sheet's font is what is measured
    m_table->horizontalHeader()->ensurePolished();
    // Qt measures a header of two lines as if it were one; here the wider line counts.
    const QFontMetrics metrics = m_table->horizontalHeader()->fontMetrics();
    for (int column = 0; column < m_proxy->columnCount(); ++column) {
        int width = 0;
        const QString title = m_proxy->headerData(column, Qt::Horizontal).toString();
        for (const QString& line : title.split(u'\n'))
            width = std::max(width, metrics.horizontalAdvance(line) + kHeaderPadding);
        for (int row = 0; row < std::min(m_proxy->rowCount(), kRowsMeasured); ++row)
            width = std::max(width, m_table->sizeHintForIndex(m_proxy->index(row, column)).width());
        m_table->setColumnWidth(column, width);
    }
}

void TableView::setEmptyText(const QString& text)
{
    m_empty->setText(text);
    m_empty->setVisible(!text.isEmpty());
    m_table->setVisible(text.isEmpty());
}

QString TableView::asTabSeparated() const
{
    const QModelIndexList selected = m_table->selectionModel()->selectedRows();
    QList<int> rows;
    for (const QModelIndex& index : selected)
        rows.append(index.row());
    std::sort(rows.begin(), rows.end());
    if (selected.isEmpty()) {
        rows.resize(m_proxy->rowCount());
        std::iota(rows.begin(), rows.end(), 0);
    }
    const auto line = [this](const auto& textOf) {
        QStringList cells;
        for (int visual = 0; visual < m_proxy->columnCount(); ++visual) {
            const int column = m_table->horizontalHeader()->logicalIndex(visual);
            if (!m_table->isColumnHidden(column))
                cells.append(textOf(column));
        }
        return QString(cells.join(u'\t') + u'\n');
    };
    QString text = line(
        [this](int column) { return m_proxy->headerData(column, Qt::Horizontal).toString().replace(u'\n', u' '); });
    for (const int row : rows)
        text += line([&](int column) { return m_proxy->index(row, column).data().toString(); });
    return text;
}

void TableView::copy() const { QGuiApplication::clipboard()->setText(asTabSeparated()); }

void TableView::showHeaderMenu(const QPoint& where)
{
    QMenu menu;
    for (int column = 0; column < m_proxy->columnCount(); ++column) {
        QString title = m_proxy->headerData(column, Qt::Horizontal).toString().replace(u'\n', u' ');
        QAction* action = menu.addAction(title);
        action->setCheckable(true);
        action->setChecked(!m_table->isColumnHidden(column));
        action->setEnabled(column >
                           0);  // a table without its names would be of no use, and its menu gone with the last column
        connect(action, &QAction::toggled, m_table,
                [this, column](bool shown) { m_table->setColumnHidden(column, !shown); });
    }
    menu.exec(m_table->horizontalHeader()->mapToGlobal(where));
}

void TableView::showCellMenu(const QPoint& where)
{
    const QModelIndex index = m_table->indexAt(where);
    QMenu menu;
    QAction* go = menu.addAction(tr("Show on the timeline"));
    go->setEnabled(index.isValid());
    connect(go, &QAction::triggered, this, [this, index] {
        const QModelIndex source = m_proxy->mapToSource(index);
        emit rowActivated(source.row(), source.column());
    });
    menu.addAction(tr("Copy as tab-separated text"), this, &TableView::copy);
    menu.exec(m_table->viewport()->mapToGlobal(where));
}

}  // namespace fp8scope::gui
