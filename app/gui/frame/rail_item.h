// SPDX-License-Identifier: GPL-3.0-or-later
// An entry of the left rail, drawn by hand: a dot, the page's name, and a count.
#pragma once

#include <QAbstractButton>

namespace fp8scope::gui {

class RailItem : public QAbstractButton {
    Q_OBJECT
public:
    /// `shortcut` is only told in the tooltip: the window acts on it, without a button's delay.
    RailItem(const QString& title, const QKeySequence& shortcut, QWidget* parent);
    void setBadge(int count);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintBadge(QPainter& painter) const;

    int m_badge = 0;
};

}  // namespace fp8scope::gui
