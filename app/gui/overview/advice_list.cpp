// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/overview/advice_list.h"

#include "app/gui/doors.h"
#include "app/gui/text.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::size_t kShown = 4;
constexpr int kGainWidth = 92;

}  // namespace

AdviceList::AdviceList(Context* context, QWidget* parent)
    : Panel(parent), m_context(context), m_all(makeButton({}, u"link"_s, this))
{
    setProperty("surface", u"background"_s);
    header()->addWidget(m_all);
    connect(m_all, &QPushButton::clicked, this, [this] { m_context->requestPage(Page::Advice); });
}

void AdviceList::refill()
{
    clearLayout(body());
    static const std::vector<analysis::Finding> kNone;
    const auto& loaded = m_context->loaded();
    const std::vector<analysis::Finding>& findings = loaded ? loaded->overview.findings : kNone;
    const std::size_t shown = std::min(kShown, findings.size());
    m_all->setVisible(findings.size() > 0);
    m_all->setText(tr("All %1").arg(findings.size()));
    if (findings.empty()) {
        setTitle(tr("What to change"));
        body()->addWidget(makeLabel(tr("Nothing stands out in what was measured."), u"dim"_s));
    } else {
        setTitle(tr("What to change"), tr("estimated gain a step; %1 of %2").arg(shown).arg(findings.size()));
    }
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0)
            body()->addWidget(makeRule());
        addFinding(findings[i]);
    }
    body()->addStretch(1);
}

void AdviceList::addFinding(const analysis::Finding& finding)
{
    auto* row = new QHBoxLayout;
    row->setSpacing(10);
    QLabel* gain = makeLabel(gainText(finding.gainNs), finding.gainNs > 0 ? u"good"_s : u"dim"_s);
    gain->setFixedWidth(kGainWidth);
    gain->setAlignment(Qt::AlignRight | Qt::AlignTop);
    row->addWidget(gain);

    auto* text = new QVBoxLayout;
    text->setSpacing(1);
    QLabel* title = makeLabel(toQt(finding.title), u"title"_s);
    title->setWordWrap(true);
    text->addWidget(title);
    QString why = toQt(finding.why);
    if (const QString interval = gainIntervalText(finding.gain); finding.gainNs != 0 && !interval.isEmpty())
        why += u" \u00b7 "_s + interval;
    QLabel* reason = makeLabel(why, u"dim"_s);
    reason->setWordWrap(true);
    text->addWidget(reason);
    row->addLayout(text, 1);

    QPushButton* evidence = makeButton(tr("Evidence"), u"link"_s);
    evidence->setToolTip(finding.evidence.empty() ? QString() : toQt(finding.evidence.front().text));
    connect(evidence, &QPushButton::clicked, this,
            [this, door = doorToFinding(*m_context->loaded(), finding)] { open(*m_context, door); });
    row->addWidget(evidence, 0, Qt::AlignTop);
    body()->addLayout(row);
}

}  // namespace fp8scope::gui
