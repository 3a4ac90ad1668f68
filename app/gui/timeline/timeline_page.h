// SPDX-License-Identifier: GPL-3.0-or-later
// The page "Timeline": step navigator and hints, minimap, the timeline, and below it the selection and the range in
// words and figures.
#pragma once

#include "app/gui/context.h"

#include <QWidget>

namespace fp8scope::gui {

class DetailsPanel;
class RangePanel;
class StepNavigator;
class TimelineView;

class TimelinePage : public QWidget {
    Q_OBJECT
public:
    explicit TimelinePage(Context* context, QWidget* parent = nullptr);

    /// Scrolls and zooms to the selection, else to the range. Works before the page was ever shown.
    void reveal();

    [[nodiscard]] TimelineView* view() const { return m_view; }
    [[nodiscard]] StepNavigator* navigator() const { return m_navigator; }
    [[nodiscard]] DetailsPanel* details() const { return m_details; }
    [[nodiscard]] RangePanel* rangePanel() const { return m_range; }

protected:
    void showEvent(QShowEvent* event) override;

private:
    [[nodiscard]] QWidget* makeTopBar();
    [[nodiscard]] QWidget* makeBottom();

    TimelineView* m_view;
    StepNavigator* m_navigator;
    DetailsPanel* m_details;
    RangePanel* m_range;
    bool m_revealWhenShown = false;  ///< asked for while there was no size to scroll in
};

}  // namespace fp8scope::gui
