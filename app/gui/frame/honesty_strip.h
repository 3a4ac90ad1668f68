// SPDX-License-Identifier: GPL-3.0-or-later
// The strip at the foot of every page: where the figures come from and what they miss.
#pragma once

#include "app/analysis/overview.h"

#include <QFrame>

class QLabel;

namespace fp8scope {
struct Trace;
}

namespace fp8scope::gui {

class HonestyStrip : public QFrame {
    Q_OBJECT
public:
    explicit HonestyStrip(QWidget* parent = nullptr);
    void setHonesty(const analysis::Honesty& honesty, const Trace& trace);
    void clear();

private:
    QLabel* m_origin;
    QLabel* m_steps;
    QLabel* m_statistic;
    QLabel* m_classified;
    QLabel* m_losses;
    QLabel* m_size;
};

}  // namespace fp8scope::gui
