// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/layers_page.h"

#include "app/gui/doors.h"
#include "app/gui/panel.h"
#include "app/gui/tables/layers_model.h"
#include "app/gui/tables/table_view.h"
#include "app/gui/visible_runs.h"

#include <QVBoxLayout>

namespace fp8scope::gui {

LayersPage::LayersPage(Context* context, QWidget* parent)
    : QWidget(parent), m_context(context), m_model(new LayersModel(this)),
      m_view(new TableView(m_model, tr("Layers"), this))
{
    setObjectName(QStringLiteral("page"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kPageMargin, kPageMargin - 4, kPageMargin, kPageMargin);
    layout->addWidget(m_view);
    connect(context, &Context::loadedChanged, this, &LayersPage::refill);
    connect(context, &Context::runsChanged, this, &LayersPage::refill);
    connect(context, &Context::selectionChanged, this, &LayersPage::showSelection);
    connect(m_view, &TableView::rowChosen, this, &LayersPage::choose);
    connect(m_view, &TableView::rowActivated, this, &LayersPage::jump);
    refill();
}

void LayersPage::refill()
{
    m_model->setTrace(m_context->loaded(), visibleRuns(*m_context));
    const bool layerless = m_context->loaded() && m_context->loaded()->trace.layers.empty();
    m_view->setEmptyText(layerless ? tr("This trace names no layers. Runs of fp8scope's engine do.") : QString());
    showSelection();
}

void LayersPage::showSelection() { m_view->showRow(m_model->rowOf(m_context->selection().layer)); }

RunId LayersPage::runAt(int row, int column) const
{
    const RunId ofColumn = m_model->runOfColumn(column);
    if (ofColumn.valid())
        return ofColumn;
    for (const RunId run : m_model->runs())
        if (m_model->layerAt(row, run).valid())
            return run;
    return RunId::none();
}

void LayersPage::choose(int row, int column)
{
    const RunId run = runAt(row, column);
    if (run.valid())
        m_context->setSelection({.run = run, .layer = m_model->layerAt(row, run)});
}

void LayersPage::jump(int row, int column)
{
    const RunId run = runAt(row, column);
    if (run.valid() && m_context->loaded())
        open(*m_context, doorToLayer(*m_context->loaded(), run, m_model->layerAt(row, run)));
}

}  // namespace fp8scope::gui
