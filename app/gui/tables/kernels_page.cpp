// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/kernels_page.h"

#include "app/gui/doors.h"
#include "app/gui/panel.h"
#include "app/gui/tables/kernels_model.h"
#include "app/gui/tables/table_view.h"
#include "app/gui/visible_runs.h"

#include <QVBoxLayout>

namespace fp8scope::gui {

KernelsPage::KernelsPage(Context* context, QWidget* parent)
    : QWidget(parent), m_context(context), m_model(new KernelsModel(this)),
      m_view(new TableView(m_model, tr("Kernels"), this))
{
    setObjectName(QStringLiteral("page"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kPageMargin, kPageMargin - 4, kPageMargin, kPageMargin);
    layout->addWidget(m_view);
    connect(context, &Context::loadedChanged, this, &KernelsPage::refill);
    connect(context, &Context::runsChanged, this, &KernelsPage::refill);
    connect(context, &Context::selectionChanged, this, &KernelsPage::showSelection);
    connect(m_view, &TableView::rowChosen, this, [this](int row, int) {
        m_context->setSelection(doorToKernel(m_model->at(row).run, *m_model->at(row).kernel).selection);
    });
    connect(m_view, &TableView::rowActivated, this,
            [this](int row, int) { open(*m_context, doorToKernel(m_model->at(row).run, *m_model->at(row).kernel)); });
    refill();
}

void KernelsPage::refill()
{
    m_model->setTrace(m_context->loaded(), visibleRuns(*m_context));
    const bool none = m_context->loaded() && m_model->rowCount() == 0;
    m_view->setEmptyText(none ? tr("No kernel ran inside a step of the runs shown.") : QString());
    showSelection();
}

void KernelsPage::showSelection() { m_view->showRow(m_model->rowOf(m_context->selection())); }

}  // namespace fp8scope::gui
