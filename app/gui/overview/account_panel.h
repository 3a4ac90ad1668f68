// SPDX-License-Identifier: GPL-3.0-or-later
// "Where did my 2x go?": the speedup account as a waterfall, with a choice where the trace has several.
#pragma once

#include "app/gui/context.h"
#include "app/gui/panel.h"

#include <vector>

class QButtonGroup;

namespace fp8scope::gui {

class WaterfallChart;

class AccountPanel : public Panel {
    Q_OBJECT
public:
    explicit AccountPanel(Context* context, QWidget* parent = nullptr);
    /// Takes the accounts of the context's trace whose runs are shown.
    void refill();
    [[nodiscard]] WaterfallChart* chart() const { return m_chart; }

private:
    void makeChoices();
    void showAccount(std::size_t account);
    void openBar(int bar);
    [[nodiscard]] bool isAblation(const analysis::SpeedupAccount& account) const;
    void showAblationText();

    Context* m_context;
    std::vector<const analysis::SpeedupAccount*> m_accounts;
    std::size_t m_shown = 0;
    WaterfallChart* m_chart;
    QLabel* m_summary;
    QLabel* m_empty;
    QButtonGroup* m_choices = nullptr;
};

}  // namespace fp8scope::gui
