// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame/elided_label.h"

#include <QPainter>

namespace fp8scope::gui {

namespace {

constexpr int kSmallest = 60;

}  // namespace

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {}

QSize ElidedLabel::minimumSizeHint() const { return {kSmallest, QLabel::minimumSizeHint().height()}; }

void ElidedLabel::resizeEvent(QResizeEvent* event)
{
    QLabel::resizeEvent(event);
    const bool fits = fontMetrics().horizontalAdvance(text()) <= width();
    setToolTip(fits ? QString() : text());
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignLeft,
                     fontMetrics().elidedText(text(), Qt::ElideRight, width()));
}

}  // namespace fp8scope::gui
