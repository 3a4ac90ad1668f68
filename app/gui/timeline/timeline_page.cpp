// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/timeline_page.h"

#include "app/gui/panel.h"
#include "app/gui/timeline/details_panel.h"
#include "app/gui/timeline/minimap.h"
#include "app/gui/timeline/range_panel.h"
#include "app/gui/timeline/step_navigator.h"
#include "app/gui/timeline/timeline_view.h"

#include <QHBoxLayout>
#include <QSplitter>
#include <QTimer>
#include <QVBoxLayout>

#include <utility>

namespace fp8scope::gui {

TimelinePage::TimelinePage(Context* context, QWidget* parent)
    : QWidget(parent), m_view(new TimelineView(context, this)), m_navigator(new StepNavigator(context, m_view, this)),
      m_details(new DetailsPanel(context, this)), m_range(new RangePanel(context, &m_view->index(), this))
{
    QWidget* bottom = makeBottom();
    auto* upper = new QWidget(this);
    auto* upperLayout = new QVBoxLayout(upper);
    upperLayout->setContentsMargins(0, 0, 0, 0);
    upperLayout->setSpacing(8);
    upperLayout->addWidget(makeTopBar());
    upperLayout->addWidget(new Minimap(context, m_view, this));
    upperLayout->addWidget(m_view, 1);

    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setHandleWidth(kPanelGap);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(upper);
    splitter->addWidget(bottom);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    splitter->setSizes({560, 196});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kPanelGap, kPanelGap, kPanelGap, kPanelGap);
    layout->addWidget(splitter);

    connect(m_view, &TimelineView::viewChanged, m_range, [this] { m_range->setVisibleSpan(m_view->visibleSpan()); });
    connect(m_view, &TimelineView::detailsToggled, bottom, [bottom] { bottom->setVisible(!bottom->isVisible()); });
    m_range->setVisibleSpan(m_view->visibleSpan());
    setFocusProxy(m_view);
}

QWidget* TimelinePage::makeTopBar()
{
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    QPushButton* fit = makeButton(tr("fit"), QStringLiteral("pill"), bar);
    fit->setToolTip(tr("Show the whole trace: 0 or Home"));
    QPushButton* back = makeButton(tr("back"), QStringLiteral("pill"), bar);
    back->setToolTip(tr("The view before: Backspace"));
    connect(fit, &QPushButton::clicked, m_view, &TimelineView::fit);
    connect(back, &QPushButton::clicked, m_view, &TimelineView::goBack);
    layout->addWidget(m_navigator);
    layout->addWidget(fit);
    layout->addWidget(back);
    QLabel* keys = makeLabel(tr("W S zoom · A D pan · F focus · R range · . , next, previous · [ ] step · Esc clear"),
                             QStringLiteral("dim"), bar);
    keys->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    keys->setToolTip(
        tr("Also + and − to zoom, arrows to pan and to change rows, Ctrl+wheel to zoom, Shift+wheel or the middle "
           "button to pan, double-click to zoom to a slice, Q to hide the panels below"));
    layout->addWidget(keys, 1);
    return bar;
}

QWidget* TimelinePage::makeBottom()
{
    auto* bottom = new QWidget(this);
    auto* layout = new QHBoxLayout(bottom);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kPanelGap);
    layout->addWidget(m_details, 5);
    layout->addWidget(m_range, 5);
    bottom->setMinimumHeight(110);
    return bottom;
}

void TimelinePage::reveal()
{
    if (isVisible())
        m_view->reveal();
    else
        m_revealWhenShown = true;
}

void TimelinePage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    // The layout gives the view its size only after this event.
    if (std::exchange(m_revealWhenShown, false))
        QTimer::singleShot(0, m_view, &TimelineView::reveal);
}

}  // namespace fp8scope::gui
