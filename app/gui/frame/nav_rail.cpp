// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame/nav_rail.h"

#include "app/gui/frame/rail_item.h"
#include "app/gui/panel.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr int kWidth = 128;

}  // namespace

NavRail::NavRail(QWidget* parent) : QFrame(parent)
{
    setObjectName(u"rail"_s);
    setFixedWidth(kWidth);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 10, 9, 10);
    layout->setSpacing(0);
    const QString titles[] = {tr("Overview"), tr("Timeline"), tr("Layers"), tr("Kernels"), tr("Advice")};
    int number = 1;
    for (const QString& title : titles) {
        auto* item = new RailItem(title, QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number)), this);
        connect(item, &QAbstractButton::clicked, this,
                [this, page = static_cast<Page>(number - 1)] { emit pageChosen(page); });
        layout->addWidget(item);
        m_items.push_back(item);
        ++number;
    }
    layout->addStretch(1);
    addThemeSwitch();
}

void NavRail::addThemeSwitch()
{
    auto* column = static_cast<QVBoxLayout*>(layout());
    column->addWidget(makeLabel(tr("Theme"), u"dim"_s, this));
    column->addSpacing(4);
    auto* group = new QButtonGroup(this);
    const std::pair<QString, QString> choices[] = {
        {tr("Auto"), tr("As the system")}, {tr("Light"), {}}, {tr("Dark"), {}}};
    auto* row = new QHBoxLayout;
    row->setSpacing(3);
    for (const auto& [text, tip] : choices) {
        QPushButton* button = makeButton(text, u"segment"_s, this);
        button->setCheckable(true);
        button->setToolTip(tip);
        button->setAccessibleName(tr("Theme: %1").arg(text));
        group->addButton(button);
        row->addWidget(button);
        connect(button, &QPushButton::clicked, this,
                [this, choice = static_cast<ThemeChoice>(m_themes.size())] { emit themeChosen(choice); });
        m_themes.push_back(button);
    }
    column->addLayout(row);
}

void NavRail::setCurrent(Page page) { m_items[static_cast<std::size_t>(page)]->setChecked(true); }

void NavRail::setPagesEnabled(bool enabled)
{
    for (RailItem* item : m_items)
        item->setEnabled(enabled);
}

void NavRail::setAdviceCount(int count) { m_items[static_cast<std::size_t>(Page::Advice)]->setBadge(count); }

void NavRail::setThemeChoice(ThemeChoice choice) { m_themes[static_cast<std::size_t>(choice)]->setChecked(true); }

}  // namespace fp8scope::gui
