// SPDX-License-Identifier: GPL-3.0-or-later
// The Advice page: every finding in full, largest gain first.
#pragma once

#include "app/gui/context.h"

#include <QScrollArea>

class QLabel;
class QVBoxLayout;

namespace fp8scope::gui {

class AdvicePage : public QScrollArea {
    Q_OBJECT
public:
    explicit AdvicePage(Context* context, QWidget* parent = nullptr);

private:
    void refill();
    [[nodiscard]] static QString headline(const std::vector<analysis::Finding>& findings);

    Context* m_context;
    QLabel* m_headline;
    QLabel* m_note;
    QVBoxLayout* m_findings;
};

}  // namespace fp8scope::gui
