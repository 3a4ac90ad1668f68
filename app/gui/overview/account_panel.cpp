// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/overview/account_panel.h"

#include "app/gui/charts/waterfall_chart.h"
#include "app/gui/doors.h"
#include "app/gui/text.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

AccountPanel::AccountPanel(Context* context, QWidget* parent)
    : Panel(parent), m_context(context), m_chart(new WaterfallChart(this)), m_summary(makeLabel({}, u"dim"_s, this)),
      m_empty(makeLabel({}, u"dim"_s, this))
{
    setProperty("surface", u"background"_s);
    m_chart->setMinimumHeight(190);
    m_summary->setWordWrap(true);
    m_empty->setWordWrap(true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setText(tr("An account needs a 16-bit run and one more to compare in the same trace, both shown."));
    body()->addWidget(m_chart, 1);
    body()->addWidget(m_empty, 1);
    body()->addWidget(m_summary);
    connect(m_chart, &WaterfallChart::clicked, this, &AccountPanel::openBar);
}

void AccountPanel::refill()
{
    m_accounts.clear();
    if (const auto& loaded = m_context->loaded())
        for (const analysis::SpeedupAccount& account : loaded->overview.accounts)
            if (m_context->runVisible(account.from) && m_context->runVisible(account.to))
                m_accounts.push_back(&account);
    if (m_context->loaded() && m_context->loaded()->overview.ablationAccount)
        m_accounts.push_back(&*m_context->loaded()->overview.ablationAccount);
    makeChoices();
    m_chart->setVisible(!m_accounts.empty());
    m_summary->setVisible(!m_accounts.empty());
    m_empty->setVisible(m_accounts.empty());
    if (m_accounts.empty())
        setTitle(tr("From 16 bit to fp8"));
    else
        showAccount(0);
}

void AccountPanel::makeChoices()
{
    delete m_choices;
    m_choices = new QButtonGroup(this);
    for (QPushButton* old : findChildren<QPushButton*>(u"accountChoice"_s))
        delete old;
    for (std::size_t i = 0; m_accounts.size() > 1 && i < m_accounts.size(); ++i) {
        auto* choice =
            makePill(isAblation(*m_accounts[i]) ? tr("by fusion") : tr("to %1").arg(toQt(m_accounts[i]->toMode)), this);
        choice->setObjectName(u"accountChoice"_s);
        choice->setChecked(i == 0);
        m_choices->addButton(choice);
        header()->addWidget(choice);
        connect(choice, &QPushButton::clicked, this, [this, i] { showAccount(i); });
    }
}

void AccountPanel::showAccount(std::size_t account)
{
    m_shown = account;
    const analysis::SpeedupAccount& shown = *m_accounts[account];
    m_chart->setAccount(shown);
    if (isAblation(shown)) {
        showAblationText();
        return;
    }
    // A device without fp8 units owes nobody a factor of two.
    setTitle(shown.idealGemmRatio > 1 ? tr("Where did my 2\u00d7 go?")
                                      : tr("From %1 to %2").arg(toQt(shown.fromMode), toQt(shown.toMode)),
             shown.idealGemmRatio > 1
                 ? tr("%1 \u2192 %2, %3 a step").arg(toQt(shown.fromMode), toQt(shown.toMode), m_chart->unit())
                 : tr("%1 a step").arg(m_chart->unit()));
    const auto times = [](double ratio) { return QString(QLocale::c().toString(ratio, 'f', 2) + u'\u00d7'); };
    QString text = tr("Speedup %1 (95% interval %2 to %3).")
                       .arg(times(shown.speedup), times(shown.speedupInterval.low), times(shown.speedupInterval.high));
    if (shown.idealGemmRatio > 1)
        text += u' ' + tr("With the device's own ratio of GEMM peaks, %1, faster GEMMs alone could give at most %2.")
                           .arg(times(shown.idealGemmRatio), times(shown.amdahlBound));
    else
        text += u' ' + tr("This device has no fp8 units: its ideal gain is none.");
    if (shown.withinNoise)
        text += u' ' + tr("The two steps' intervals overlap: the difference may be noise.");
    m_summary->setText(text);
}

bool AccountPanel::isAblation(const analysis::SpeedupAccount& account) const
{
    const auto& ablation = m_context->loaded()->overview.ablationAccount;
    return ablation && &account == &*ablation;
}

void AccountPanel::showAblationText()
{
    const analysis::Ablation& ablation = *m_context->loaded()->overview.ablation;
    setTitle(
        tr("What does each fusion buy?"),
        tr("%1 \u2192 %2, %3 a step").arg(toQt(ablation.plain.mode), toQt(ablation.last().mode)).arg(m_chart->unit()));
    QStringList noise;
    for (const analysis::AblationLink& link : ablation.chain)
        if (link.difference.withinNoise())
            noise.append(toQt(link.fusion));
    QString text = ablation.plain.repeats > 1
                       ? tr("Medians over %1 repeats in alternating order.").arg(ablation.plain.repeats)
                       : tr("From one run a mode: repeats tell how far to trust the differences.");
    if (!noise.isEmpty())
        text += u' ' + tr("Within the noise: %1.").arg(noise.join(u", "_s));
    if (!ablation.skipped.empty())
        text += u' ' + tr("Left out: %1.").arg(toQt(ablation.skipped));
    m_summary->setText(text);
}

void AccountPanel::openBar(int bar)
{
    const auto& loaded = m_context->loaded();
    if (!loaded || m_shown >= m_accounts.size())
        return;
    const analysis::SpeedupAccount& account = *m_accounts[m_shown];
    if (bar == -1) {
        open(*m_context, doorToTypicalStep(*loaded, account.from));
        return;
    }
    Door door;
    if (bar >= 0 && bar < static_cast<int>(account.bars.size()))
        if (const auto family = familyOfBar(account.bars[static_cast<std::size_t>(bar)].name))
            door = doorToFamily(*loaded, account.to, *family);
    open(*m_context, door.empty() ? doorToTypicalStep(*loaded, account.to) : door);
}

}  // namespace fp8scope::gui
