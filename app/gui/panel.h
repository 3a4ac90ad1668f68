// SPDX-License-Identifier: GPL-3.0-or-later
// The pieces that every page is laid out with: a titled panel, text in one of the sheet's roles, a thin rule, small
// buttons.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QString>

class QHBoxLayout;
class QVBoxLayout;

namespace fp8scope::gui {

inline constexpr int kPanelGap = 12;
inline constexpr int kPageMargin = 18;

/// One border, a title in bold with its unit in dim text, and a body.
class Panel : public QFrame {
    Q_OBJECT
public:
    explicit Panel(QWidget* parent = nullptr);
    void setTitle(const QString& title, const QString& unit = {});
    /// Where content goes, below the title.
    [[nodiscard]] QVBoxLayout* body() const { return m_body; }
    /// To the right of the title.
    [[nodiscard]] QHBoxLayout* header() const { return m_header; }

private:
    QLabel* m_title;
    QLabel* m_unit;
    QHBoxLayout* m_header;
    QVBoxLayout* m_body;
};

/// A label styled by the sheet's `role` (title, dim, headline, figure, good, bad, warn, code).
[[nodiscard]] QLabel* makeLabel(const QString& text, const QString& role, QWidget* parent = nullptr);
/// Changes the role of a label or button that is shown already.
void setRole(QWidget* widget, const QString& role);
[[nodiscard]] QPushButton* makeButton(const QString& text, const QString& role, QWidget* parent = nullptr);
/// A checkable button with round ends; wide enough for its bold text when it is checked.
[[nodiscard]] QPushButton* makePill(const QString& text, QWidget* parent = nullptr);
[[nodiscard]] QFrame* makeRule(QWidget* parent = nullptr);
/// Deletes all items of a layout, and their widgets.
void clearLayout(QLayout* layout);

}  // namespace fp8scope::gui
