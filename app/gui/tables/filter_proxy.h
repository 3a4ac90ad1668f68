// SPDX-License-Identifier: GPL-3.0-or-later
// Sorts a table by raw values and filters its rows by what is typed: words, or a regular expression between slashes.
#pragma once

#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QStringList>

#include <functional>

namespace fp8scope::gui {

class FilterProxy : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit FilterProxy(QObject* parent = nullptr);
    /// "gemm fwd": rows that hold all words, in any column and case. "/cast.*_x/": rows where some column matches; a
    /// wrong expression filters nothing and is told by filterError(). Empty shows all.
    void setFilterText(const QString& text);
    [[nodiscard]] const QString& filterError() const { return m_error; }

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    [[nodiscard]] bool anyColumn(int row, const QModelIndex& parent,
                                 const std::function<bool(const QString&)>& holds) const;

    QStringList m_words;
    QRegularExpression m_expression;
    bool m_useExpression = false;
    QString m_error;
};

}  // namespace fp8scope::gui
