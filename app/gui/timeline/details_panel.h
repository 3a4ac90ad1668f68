// SPDX-License-Identifier: GPL-3.0-or-later
// What is selected, in words that can be copied.
#pragma once

#include "app/gui/context.h"
#include "app/gui/panel.h"

class QTextBrowser;

namespace fp8scope::gui {

class DetailsPanel : public Panel {
    Q_OBJECT
public:
    explicit DetailsPanel(Context* context, QWidget* parent = nullptr);
    /// The text without markup.
    [[nodiscard]] QString text() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    void refresh();

    Context* m_context;
    QTextBrowser* m_text;
};

}  // namespace fp8scope::gui
