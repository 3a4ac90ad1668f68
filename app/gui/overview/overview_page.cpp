// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/overview/overview_page.h"

#include "app/gui/doors.h"
#include "app/gui/overview/account_panel.h"
#include "app/gui/overview/advice_list.h"
#include "app/gui/overview/family_panel.h"
#include "app/gui/overview/figure_card.h"
#include "app/gui/panel.h"
#include "app/gui/text.h"
#include "app/gui/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

OverviewPage::OverviewPage(Context* context, QWidget* parent)
    : QScrollArea(parent), m_context(context), m_headline(makeLabel({}, u"headline"_s)), m_note(makeLabel({}, {})),
      m_figures(new QHBoxLayout), m_account(new AccountPanel(context)), m_families(new FamilyPanel(context)),
      m_advice(new AdviceList(context))
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    auto* page = new QWidget;
    page->setObjectName(u"page"_s);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(kPageMargin, 14, kPageMargin, kPageMargin);
    layout->setSpacing(kPanelGap);
    for (QLabel* label : {m_headline, m_note}) {
        label->setTextFormat(Qt::RichText);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    auto* sentence = new QVBoxLayout;
    sentence->setSpacing(4);
    sentence->addWidget(m_headline);
    sentence->addWidget(m_note);
    layout->addLayout(sentence);
    m_figures->setSpacing(10);
    layout->addLayout(m_figures);
    auto* charts = new QHBoxLayout;
    charts->setSpacing(kPanelGap);
    charts->addWidget(m_account, 59);
    charts->addWidget(m_families, 41);
    layout->addLayout(charts, 3);
    layout->addWidget(m_advice, 1);
    setWidget(page);

    connect(context, &Context::loadedChanged, this, &OverviewPage::refill);
    connect(context, &Context::runsChanged, this, &OverviewPage::refillCharts);
    refill();
}

void OverviewPage::changeEvent(QEvent* event)
{
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        fillText();  // rich text holds its colours
}

void OverviewPage::refill()
{
    fillText();
    fillFigures();
    m_advice->refill();
    refillCharts();
    verticalScrollBar()->setValue(0);
}

void OverviewPage::refillCharts()
{
    m_account->refill();
    m_families->refill();
}

void OverviewPage::fillText()
{
    const auto& loaded = m_context->loaded();
    m_headline->setText(loaded ? richText(loaded->overview.headline, currentTheme()) : QString());
    m_note->setText(loaded ? richText(loaded->overview.note, currentTheme()) : QString());
    m_note->setVisible(!m_note->text().isEmpty());
}

void OverviewPage::fillFigures()
{
    clearLayout(m_figures);
    if (!m_context->loaded())
        return;
    for (const analysis::Figure& figure : m_context->loaded()->overview.figures) {
        auto* card = new FigureCard(figure);
        connect(card, &FigureCard::clicked, this,
                [this, door = doorToFigure(*m_context->loaded(), figure)] { open(*m_context, door); });
        m_figures->addWidget(card, 1);
    }
}

}  // namespace fp8scope::gui
