// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame/top_bar.h"

#include "app/gui/frame/search_box.h"
#include "app/gui/panel.h"
#include "app/gui/text.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>

#include <algorithm>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

TopBar::TopBar(Context* context, QMenu* fileMenu, QWidget* parent)
    : QFrame(parent), m_context(context), m_file(makeButton({}, u"file"_s, this)),
      m_runs(makeLabel({}, u"dim"_s, this)), m_toggleRow(new QHBoxLayout), m_search(new SearchBox(context, this))
{
    setObjectName(u"topBar"_s);
    setFixedHeight(44);
    m_file->setMenu(fileMenu);
    m_file->setAccessibleName(tr("File menu"));
    m_toggleRow->setSpacing(10);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(10, 0, 14, 0);
    layout->setSpacing(10);
    layout->addWidget(m_file);
    layout->addWidget(m_runs);
    layout->addLayout(m_toggleRow);
    layout->addStretch(1);
    layout->addWidget(m_search);
    connect(context, &Context::loadedChanged, this, &TopBar::refill);
    refill();
}

void TopBar::refill()
{
    clearLayout(m_toggleRow);
    m_toggles.clear();
    const auto& loaded = m_context->loaded();
    if (!loaded) {
        m_file->setText(tr("fp8scope") + u"  "_s);
        m_runs->clear();
        return;
    }
    const auto runs = loaded->trace.runs.size();
    m_file->setText(QFileInfo(loaded->path).fileName() + u"  "_s);  // room for the menu's mark
    m_file->setToolTip(loaded->path);
    m_runs->setText(runs == 1 ? tr("one file, one run") : tr("one file, %1 runs").arg(runs));
    for (const analysis::Breakdown& row : loaded->overview.runs)
        addToggle(row.run);
}

void TopBar::addToggle(RunId run)
{
    const Run& shown = m_context->loaded()->trace.run(run);
    QPushButton* toggle = makePill(toQt(shown.mode), this);
    toggle->setChecked(true);
    toggle->setToolTip(shown.complete ? tr("Show or hide this run on all pages")
                                      : tr("Show or hide this run. It is incomplete: %1").arg(toQt(shown.note)));
    connect(toggle, &QPushButton::clicked, this, [this, run, toggle](bool checked) {
        const auto shownRuns =
            std::count_if(m_toggles.begin(), m_toggles.end(), [](auto* t) { return t->isChecked(); });
        if (shownRuns == 0)
            toggle->setChecked(true);  // pages without any run would say nothing
        else
            m_context->setRunVisible(run, checked);
    });
    m_toggleRow->addWidget(toggle);
    m_toggles.push_back(toggle);
}

}  // namespace fp8scope::gui
