// SPDX-License-Identifier: GPL-3.0-or-later
// "Time by family": one stacked bar a run, with the legend.
#pragma once

#include "app/gui/context.h"
#include "app/gui/panel.h"

#include <vector>

namespace fp8scope::gui {

class FamilyChart;
class FamilyLegend;

class FamilyPanel : public Panel {
    Q_OBJECT
public:
    explicit FamilyPanel(Context* context, QWidget* parent = nullptr);
    /// Takes the runs of the context's trace that are shown.
    void refill();
    [[nodiscard]] FamilyChart* chart() const { return m_chart; }

private:
    Context* m_context;
    FamilyChart* m_chart;
    FamilyLegend* m_legend;
    std::vector<RunId> m_runs;  ///< of the chart's bars
};

}  // namespace fp8scope::gui
