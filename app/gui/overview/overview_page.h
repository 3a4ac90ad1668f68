// SPDX-License-Identifier: GPL-3.0-or-later
// The first page: a sentence of what was found, figures, the speedup account, time by family, and what to change.
#pragma once

#include "app/gui/context.h"

#include <QScrollArea>

class QHBoxLayout;
class QLabel;

namespace fp8scope::gui {

class AccountPanel;
class AdviceList;
class FamilyPanel;

class OverviewPage : public QScrollArea {
    Q_OBJECT
public:
    explicit OverviewPage(Context* context, QWidget* parent = nullptr);
    [[nodiscard]] AccountPanel* accountPanel() const { return m_account; }
    [[nodiscard]] FamilyPanel* familyPanel() const { return m_families; }

protected:
    void changeEvent(QEvent* event) override;

private:
    void refill();
    void refillCharts();
    void fillText();
    void fillFigures();

    Context* m_context;
    QLabel* m_headline;
    QLabel* m_note;
    QHBoxLayout* m_figures;
    AccountPanel* m_account;
    FamilyPanel* m_families;
    AdviceList* m_advice;
};

}  // namespace fp8scope::gui
