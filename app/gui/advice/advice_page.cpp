// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/advice/advice_page.h"

#include "app/gui/advice/finding_panel.h"
#include "app/gui/text.h"

#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

AdvicePage::AdvicePage(Context* context, QWidget* parent)
    : QScrollArea(parent), m_context(context), m_headline(makeLabel({}, u"headline"_s)),
      m_note(makeLabel({}, u"dim"_s)), m_findings(new QVBoxLayout)
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    auto* page = new QWidget;
    page->setObjectName(u"page"_s);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(kPageMargin, 14, kPageMargin, kPageMargin);
    layout->setSpacing(kPanelGap);
    m_note->setWordWrap(true);
    layout->addWidget(m_headline);
    layout->addWidget(m_note);
    m_findings->setSpacing(kPanelGap);
    layout->addLayout(m_findings);
    layout->addStretch(1);
    setWidget(page);
    connect(context, &Context::loadedChanged, this, &AdvicePage::refill);
    refill();
}

QString AdvicePage::headline(const std::vector<analysis::Finding>& findings)
{
    if (findings.empty())
        return tr("Nothing stands out in what was measured.");
    const auto gains = std::count_if(findings.begin(), findings.end(), [](const auto& f) { return f.gainNs > 0; });
    const auto notes = static_cast<std::ptrdiff_t>(findings.size()) - gains;
    const QString first = gains == 1 ? tr("One thing to change") : tr("%1 things to change").arg(gains);
    if (notes == 0)
        return first;
    return notes == 1 ? tr("%1 and one note").arg(first) : tr("%1 and %2 notes").arg(first).arg(notes);
}

void AdvicePage::refill()
{
    clearLayout(m_findings);
    verticalScrollBar()->setValue(0);
    const auto& loaded = m_context->loaded();
    if (!loaded)
        return;
    const std::vector<analysis::Finding>& findings = loaded->overview.findings;
    m_headline->setText(headline(findings));
    m_note->setText(
        findings.empty()
            ? tr("Advice comes from rules on measured figures. None of them found a gain here.")
            : tr("Gains are estimates from the figures measured here, each with how it was computed and what would "
                 "make it wrong. They do not add up: one change can take what another would have gained."));
    for (const analysis::Finding& finding : findings)
        m_findings->addWidget(new FindingPanel(m_context, finding));
}

}  // namespace fp8scope::gui
