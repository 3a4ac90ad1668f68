// SPDX-License-Identifier: GPL-3.0-or-later
// One figure of the overview: label, value, detail; how it is computed as the tooltip; a click leads to what is behind
// it.
#pragma once

#include "app/analysis/overview.h"

#include <QFrame>

namespace fp8scope::gui {

class FigureCard : public QFrame {
    Q_OBJECT
public:
    explicit FigureCard(const analysis::Figure& figure, QWidget* parent = nullptr);

signals:
    void clicked();

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace fp8scope::gui
