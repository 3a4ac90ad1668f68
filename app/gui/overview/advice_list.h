// SPDX-License-Identifier: GPL-3.0-or-later
// "What to change": the findings with the largest gains, each with its gain, why, and a door to its evidence.
#pragma once

#include "app/gui/context.h"
#include "app/gui/panel.h"

namespace fp8scope::gui {

class AdviceList : public Panel {
    Q_OBJECT
public:
    explicit AdviceList(Context* context, QWidget* parent = nullptr);
    void refill();

private:
    void addFinding(const analysis::Finding& finding);

    Context* m_context;
    QPushButton* m_all;
};

}  // namespace fp8scope::gui
