// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/overview/family_panel.h"

#include "app/gui/charts/family_chart.h"
#include "app/gui/charts/family_legend.h"
#include "app/gui/doors.h"

#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

FamilyPanel::FamilyPanel(Context* context, QWidget* parent)
    : Panel(parent), m_context(context), m_chart(new FamilyChart(this)), m_legend(new FamilyLegend(this))
{
    setProperty("surface", u"background"_s);
    m_chart->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    body()->addWidget(m_chart);
    body()->addWidget(m_legend);
    body()->addStretch(1);
    connect(m_chart, &FamilyChart::clicked, this, [this](int bar, Family family) {
        open(*m_context, doorToFamily(*m_context->loaded(), m_runs[static_cast<std::size_t>(bar)], family));
    });
    connect(m_legend, &FamilyLegend::clicked, this, [this](Family family) {
        for (auto run = m_runs.rbegin(); run != m_runs.rend(); ++run) {
            const Door door = doorToFamily(*m_context->loaded(), *run, family);
            if (!door.empty())
                return open(*m_context, door);
        }
    });
    connect(context, &Context::selectionChanged, m_chart,
            [this](const Selection& selection) { m_chart->setHighlighted(selection.family); });
}

void FamilyPanel::refill()
{
    report::FamilyBars bars;
    m_runs.clear();
    if (const auto& loaded = m_context->loaded()) {
        for (const analysis::Breakdown& run : loaded->overview.runs) {
            if (!m_context->runVisible(run.run) || run.stepNs == 0)
                continue;
            report::FamilyBars::Bar& bar = bars.bars.emplace_back();
            bar.mode = run.mode;
            for (std::size_t f = 0; f < kFamilyCount; ++f)
                bar.ns[f] = run.families[f].exposedNs;
            m_runs.push_back(run.run);
        }
    }
    m_chart->setBars(std::move(bars));
    m_chart->setFixedHeight(m_chart->preferredHeight());
    m_legend->setFamilies(m_chart->shownFamilies());
    setTitle(tr("Time by family"),
             m_runs.empty() ? tr("no steps to show") : tr("exposed %1 a step").arg(m_chart->unit()));
}

}  // namespace fp8scope::gui
