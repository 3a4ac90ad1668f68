// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/step_navigator.h"

#include "app/gui/panel.h"
#include "app/gui/text.h"

#include <QHBoxLayout>
#include <QPushButton>

#include <algorithm>

namespace fp8scope::gui {
namespace {

TimeSpan spanOf(const Step& step) { return {step.startNs, step.startNs + step.durNs}; }

}  // namespace

StepNavigator::StepNavigator(Context* context, TimelineView* view, QWidget* parent)
    : QWidget(parent), m_context(context), m_view(view),
      m_previous(makeButton(QStringLiteral("‹"), QStringLiteral("pill"), this)),
      m_label(makeButton({}, QStringLiteral("pill"), this)),
      m_next(makeButton(QStringLiteral("›"), QStringLiteral("pill"), this))
{
    m_previous->setToolTip(tr("Previous step: [ on the timeline"));
    m_previous->setAccessibleName(tr("Previous step"));
    m_next->setToolTip(tr("Next step: ] on the timeline"));
    m_next->setAccessibleName(tr("Next step"));
    m_label->setToolTip(tr("Make this step the range and show it"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    for (QPushButton* button : {m_previous, m_label, m_next})
        layout->addWidget(button);
    connect(m_previous, &QPushButton::clicked, this, [this] { go(-1); });
    connect(m_next, &QPushButton::clicked, this, [this] { go(1); });
    connect(m_label, &QPushButton::clicked, this, &StepNavigator::showCurrent);
    connect(view, &TimelineView::stepRequested, this, &StepNavigator::go);
    connect(view, &TimelineView::viewChanged, this, &StepNavigator::refresh);
    connect(context, &Context::rangeChanged, this, &StepNavigator::refresh);
    connect(context, &Context::loadedChanged, this, &StepNavigator::reload);
    connect(context, &Context::runsChanged, this, &StepNavigator::reload);
    reload();
}

void StepNavigator::reload()
{
    m_order.clear();
    m_loaded = m_context->loaded();
    if (m_loaded) {
        const auto& steps = m_loaded->trace.steps;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (m_context->runVisible(steps[i].run))
                m_order.push_back(i);
        }
        std::stable_sort(m_order.begin(), m_order.end(),
                         [&](std::size_t a, std::size_t b) { return steps[a].startNs < steps[b].startNs; });
    }
    refresh();
}

std::optional<std::size_t> StepNavigator::currentPosition() const
{
    if (m_order.empty())
        return std::nullopt;
    const auto& steps = m_loaded->trace.steps;
    const TimeSpan seen = m_view->visibleSpan();
    // A step that is the range is the current one while it is in sight; after that it is the one that is looked at.
    const std::optional<TimeSpan>& range = m_context->range();
    const bool rangeInSight = range && range->startNs < seen.endNs && seen.startNs < range->endNs;
    for (std::size_t p = 0; p < m_order.size() && rangeInSight; ++p) {
        if (spanOf(steps[m_order[p]]) == *range)
            return p;
    }
    const std::int64_t middle = seen.startNs + (seen.endNs - seen.startNs) / 2;
    const auto after =
        std::partition_point(m_order.begin(), m_order.end(), [&](std::size_t i) { return steps[i].startNs <= middle; });
    return after == m_order.begin() ? 0 : static_cast<std::size_t>(after - m_order.begin()) - 1;
}

std::optional<std::size_t> StepNavigator::current() const
{
    const auto position = currentPosition();
    return position ? std::optional(m_order[*position]) : std::nullopt;
}

void StepNavigator::refresh()
{
    const auto position = currentPosition();
    setVisible(position.has_value());
    if (!position)
        return;
    const Trace& trace = m_loaded->trace;
    const Step& step = trace.steps[m_order[*position]];
    const auto ofRun =
        std::count_if(trace.steps.begin(), trace.steps.end(), [&](const Step& s) { return s.run == step.run; });
    const auto before = std::count_if(trace.steps.begin(), trace.steps.end(),
                                      [&](const Step& s) { return s.run == step.run && s.startNs < step.startNs; });
    // Recorders number steps from where they like, so the number and the place are both said where they differ.
    const QString place = std::int64_t{step.index} == before + 1
                              ? tr("step %1 of %2").arg(step.index).arg(ofRun)
                              : tr("step %1 (%2 of %3)").arg(step.index).arg(before + 1).arg(ofRun);
    const std::string& mode = trace.run(step.run).mode;
    m_label->setText(trace.runs.size() > 1 && !mode.empty() ? toQt(mode) + QStringLiteral(" · ") + place : place);
    m_previous->setEnabled(*position > 0);
    m_next->setEnabled(*position + 1 < m_order.size());
}

void StepNavigator::go(int direction)
{
    const auto position = currentPosition();
    if (!position)
        return;
    const auto target = static_cast<std::int64_t>(*position) + direction;
    if (target >= 0 && target < std::ssize(m_order))
        show(static_cast<std::size_t>(target));
}

void StepNavigator::showCurrent()
{
    if (const auto position = currentPosition())
        show(*position);
}

void StepNavigator::show(std::size_t position)
{
    const Step& step = m_loaded->trace.steps[m_order[position]];
    m_context->setRange(spanOf(step));
    m_view->showSpan(spanOf(step));
    m_view->showRun(step.run);
}

}  // namespace fp8scope::gui
