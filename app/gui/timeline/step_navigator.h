// SPDX-License-Identifier: GPL-3.0-or-later
// "‹ fp8 · step 7 of 40 ›": from step to step through all visible runs in the order of time. A step becomes the range
// and is shown.
#pragma once

#include "app/gui/timeline/timeline_view.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QPushButton;

namespace fp8scope::gui {

class StepNavigator : public QWidget {
    Q_OBJECT
public:
    StepNavigator(Context* context, TimelineView* view, QWidget* parent = nullptr);

    /// The next (1) or previous (-1) step from where the view is.
    void go(int direction);
    /// Shows the step where the view is.
    void showCurrent();
    /// Index into Trace::steps: the step that is the range, else the one in the middle of the view; nullopt without
    /// steps.
    [[nodiscard]] std::optional<std::size_t> current() const;

private:
    void reload();
    void refresh();
    void show(std::size_t position);
    [[nodiscard]] std::optional<std::size_t> currentPosition() const;

    Context* m_context;
    TimelineView* m_view;
    std::shared_ptr<const LoadedTrace> m_loaded;  ///< that m_order is of: the view may move before we hear of another
    std::vector<std::size_t> m_order;             ///< steps of visible runs by start
    QPushButton* m_previous;
    QPushButton* m_label;
    QPushButton* m_next;
};

}  // namespace fp8scope::gui
