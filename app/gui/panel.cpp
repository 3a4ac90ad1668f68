// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panel.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QStyle>
#include <QVBoxLayout>
#include <QVariant>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

Panel::Panel(QWidget* parent) : QFrame(parent)
{
    setObjectName(u"panel"_s);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(12, 10, 12, 10);
    outer->setSpacing(8);
    m_header = new QHBoxLayout;
    m_header->setSpacing(6);
    m_title = makeLabel({}, u"title"_s, this);
    m_unit = makeLabel({}, u"dim"_s, this);
    m_header->addWidget(m_title);
    m_header->addWidget(m_unit);
    m_header->addStretch(1);
    m_body = new QVBoxLayout;
    m_body->setSpacing(8);
    outer->addLayout(m_header);
    outer->addLayout(m_body, 1);
}

void Panel::setTitle(const QString& title, const QString& unit)
{
    m_title->setText(title);
    m_unit->setText(unit);
    setAccessibleName(title);
}

QLabel* makeLabel(const QString& text, const QString& role, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setProperty("role", role);
    return label;
}

void setRole(QWidget* widget, const QString& role)
{
    widget->setProperty("role", role);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

QPushButton* makeButton(const QString& text, const QString& role, QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    button->setProperty("role", role);
    button->setCursor(Qt::PointingHandCursor);
    return button;
}

QPushButton* makePill(const QString& text, QWidget* parent)
{
    constexpr int kTextPixels = 13;  // as in the sheet, whose bold does not count for size hints
    constexpr int kEnds = 26;
    QPushButton* pill = makeButton(text, u"pill"_s, parent);
    QFont bold = pill->font();
    bold.setPixelSize(kTextPixels);
    bold.setBold(true);
    pill->setCheckable(true);
    pill->setMinimumWidth(QFontMetrics(bold).horizontalAdvance(text) + kEnds);
    return pill;
}

QFrame* makeRule(QWidget* parent)
{
    auto* rule = new QFrame(parent);
    rule->setObjectName(u"rule"_s);
    return rule;
}

void clearLayout(QLayout* layout)
{
    while (QLayoutItem* item = layout->takeAt(0)) {
        if (QLayout* inner = item->layout())
            clearLayout(inner);
        delete item->widget();
        delete item;
    }
}

}  // namespace fp8scope::gui
