// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/advice/finding_panel.h"

#include "app/gui/doors.h"
#include "app/gui/text.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr int kLabelWidth = 118;

QLabel* selectable(const QString& text, const QString& role = {})
{
    QLabel* label = makeLabel(text, role);
    label->setWordWrap(role != u"code"_s);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

void addRow(QGridLayout* grid, const QString& name, QWidget* value, QWidget* action = nullptr)
{
    const int row = grid->rowCount();
    QLabel* label = makeLabel(name, u"dim"_s);
    label->setFixedWidth(kLabelWidth);
    grid->addWidget(label, row, 0, Qt::AlignTop | Qt::AlignLeft);
    grid->addWidget(value, row, 1);
    if (action)
        grid->addWidget(action, row, 2, Qt::AlignTop | Qt::AlignRight);
}

void addText(QGridLayout* grid, const QString& name, const std::string& text)
{
    if (!text.empty())
        addRow(grid, name, selectable(toQt(text)));
}

/// The patch as TOML: "fusion.cast_transpose = true".
QString patchText(const std::vector<analysis::ConfigPatch>& change)
{
    QStringList lines;
    for (const analysis::ConfigPatch& patch : change)
        lines.append(toQt(patch.key) + u" = "_s + toQt(patch.value));
    return lines.join(u'\n');
}

}  // namespace

FindingPanel::FindingPanel(Context* context, const analysis::Finding& finding, QWidget* parent)
    : Panel(parent), m_context(context)
{
    const Trace& trace = context->loaded()->trace;
    setTitle(toQt(finding.title), finding.run.valid() ? toQt(trace.run(finding.run).mode) : QString());
    QString gain = gainText(finding.gainNs);
    if (finding.gainNs != 0)
        gain = tr("%1 a step").arg(gain);
    header()->addWidget(makeLabel(gain, finding.gainNs > 0 ? u"good"_s : u"dim"_s));

    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(10);
    grid->setVerticalSpacing(5);
    grid->setColumnStretch(1, 1);
    addText(grid, tr("Why"), finding.why);
    addEvidence(grid, finding);
    if (const QString interval = gainIntervalText(finding.gain); finding.gainNs != 0 && !interval.isEmpty())
        addRow(grid, tr("Interval"), selectable(interval));
    addText(grid, tr("Estimated as"), finding.formula);
    addText(grid, tr("Wrong if"), finding.wrongIf);
    addChange(grid, finding);
    addOptions(grid, finding);
    body()->addLayout(grid);
}

void FindingPanel::addEvidence(QGridLayout* grid, const analysis::Finding& finding)
{
    bool first = true;
    for (const analysis::Evidence& evidence : finding.evidence) {
        const Door door = doorToEvidence(*m_context->loaded(), finding.run, evidence);
        QPushButton* show = nullptr;
        if (!door.empty()) {
            show = makeButton(tr("Show"), u"link"_s);
            show->setAccessibleName(tr("Show on the timeline: %1").arg(toQt(evidence.text)));
            connect(show, &QPushButton::clicked, this, [this, door] { open(*m_context, door); });
        }
        addRow(grid, first ? tr("Evidence") : QString(), selectable(toQt(evidence.text)), show);
        first = false;
    }
}

void FindingPanel::addChange(QGridLayout* grid, const analysis::Finding& finding)
{
    if (finding.change.empty())
        return;
    const QString patch = patchText(finding.change);
    QPushButton* copy = makeButton(tr("Copy"), u"link"_s);
    copy->setToolTip(tr("Copy for the run's TOML file"));
    connect(copy, &QPushButton::clicked, this, [patch] { QGuiApplication::clipboard()->setText(patch); });
    addRow(grid, tr("In the engine"), selectable(patch, u"code"_s), copy);
}

void FindingPanel::addOptions(QGridLayout* grid, const analysis::Finding& finding)
{
    for (const analysis::FrameworkOption& option : finding.options)
        addRow(grid, toQt(option.framework), selectable(toQt(option.option), u"code"_s));
}

}  // namespace fp8scope::gui
