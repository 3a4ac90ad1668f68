// SPDX-License-Identifier: GPL-3.0-or-later
// The left rail: the pages with a count on Advice, and at its foot the choice of theme.
#pragma once

#include "app/gui/context.h"
#include "app/gui/theme.h"

#include <QFrame>
#include <QPushButton>

#include <vector>

namespace fp8scope::gui {

/// One entry, drawn as a dot, a title and a badge.
class RailItem;

class NavRail : public QFrame {
    Q_OBJECT
public:
    explicit NavRail(QWidget* parent = nullptr);
    void setCurrent(Page page);
    /// Without a trace there are no pages to go to.
    void setPagesEnabled(bool enabled);
    void setAdviceCount(int count);
    void setThemeChoice(ThemeChoice choice);

signals:
    void pageChosen(fp8scope::gui::Page page);
    void themeChosen(fp8scope::gui::ThemeChoice choice);

private:
    void addThemeSwitch();

    std::vector<RailItem*> m_items;
    std::vector<QPushButton*> m_themes;
};

}  // namespace fp8scope::gui
