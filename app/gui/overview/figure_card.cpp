// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/overview/figure_card.h"

#include "app/gui/panel.h"
#include "app/gui/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

FigureCard::FigureCard(const analysis::Figure& figure, QWidget* parent) : QFrame(parent)
{
    setObjectName(u"card"_s);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setToolTip(toQt(figure.howComputed));
    setAccessibleName(toQt(figure.label + ": " + figure.value));
    setAccessibleDescription(toQt(figure.detail));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 9, 12, 9);
    layout->setSpacing(1);
    QLabel* label = makeLabel(toQt(figure.label), u"dim"_s, this);
    QLabel* detail = makeLabel(toQt(figure.detail), u"dim"_s, this);
    label->setWordWrap(true);
    detail->setWordWrap(true);
    layout->addWidget(label);
    layout->addWidget(makeLabel(toQt(figure.value), u"figure"_s, this));
    layout->addWidget(detail);
    layout->addStretch(1);
}

void FigureCard::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint()))
        emit clicked();
}

void FigureCard::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space)
        emit clicked();
    else
        QFrame::keyPressEvent(event);
}

}  // namespace fp8scope::gui
