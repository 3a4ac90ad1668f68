// SPDX-License-Identifier: GPL-3.0-or-later
// A label of one line that is cut with … where it does not fit; the whole text is then its tooltip.
#pragma once

#include <QLabel>

namespace fp8scope::gui {

class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget* parent = nullptr);
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
};

}  // namespace fp8scope::gui
