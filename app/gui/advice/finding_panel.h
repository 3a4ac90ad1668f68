// SPDX-License-Identifier: GPL-3.0-or-later
// One finding in full: gain, why, evidence with doors, formula, what would make it wrong, and what to change where.
#pragma once

#include "app/gui/context.h"
#include "app/gui/panel.h"

class QGridLayout;

namespace fp8scope::gui {

class FindingPanel : public Panel {
    Q_OBJECT
public:
    FindingPanel(Context* context, const analysis::Finding& finding, QWidget* parent = nullptr);

private:
    void addEvidence(QGridLayout* grid, const analysis::Finding& finding);
    void addChange(QGridLayout* grid, const analysis::Finding& finding);
    void addOptions(QGridLayout* grid, const analysis::Finding& finding);

    Context* m_context;
};

}  // namespace fp8scope::gui
