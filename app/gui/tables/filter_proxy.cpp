// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/filter_proxy.h"

#include "app/gui/tables/table_model.h"

#include <algorithm>

namespace fp8scope::gui {

FilterProxy::FilterProxy(QObject* parent) : QSortFilterProxyModel(parent)
{
    setSortRole(TableModel::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void FilterProxy::setFilterText(const QString& text)
{
    const QString trimmed = text.trimmed();
    m_error.clear();
    m_words.clear();
    m_useExpression = trimmed.size() > 1 && trimmed.startsWith(u'/') && trimmed.endsWith(u'/');
    if (m_useExpression) {
        m_expression =
            QRegularExpression(trimmed.mid(1, trimmed.size() - 2), QRegularExpression::CaseInsensitiveOption);
        if (!m_expression.isValid()) {
            m_error = tr("%1 at position %2").arg(m_expression.errorString()).arg(m_expression.patternErrorOffset());
            m_useExpression = false;
        }
    } else {
        m_words = trimmed.split(u' ', Qt::SkipEmptyParts);
    }
    invalidateFilter();
}

bool FilterProxy::anyColumn(int row, const QModelIndex& parent, const std::function<bool(const QString&)>& holds) const
{
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column)
        if (holds(sourceModel()->index(row, column, parent).data(Qt::DisplayRole).toString()))
            return true;
    return false;
}

bool FilterProxy::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (m_useExpression)
        return anyColumn(row, parent, [this](const QString& text) { return m_expression.match(text).hasMatch(); });
    return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) {
        return anyColumn(row, parent, [&](const QString& text) { return text.contains(word, Qt::CaseInsensitive); });
    });
}

}  // namespace fp8scope::gui
