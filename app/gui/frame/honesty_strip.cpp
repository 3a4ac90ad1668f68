// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame/honesty_strip.h"

#include "app/gui/frame/elided_label.h"
#include "app/gui/panel.h"
#include "app/gui/text.h"
#include "collector/trace/trace.h"

#include <QHBoxLayout>
#include <QLocale>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

QString diagnosticsText(const Trace& trace)
{
    QStringList lines;
    for (const Diagnostic& diagnostic : trace.diagnostics)
        lines.append(u"%1 \u00d7 %2: %3"_s.arg(diagnostic.count).arg(toQt(diagnostic.name), toQt(diagnostic.text)));
    for (const Run& run : trace.runs)
        if (!run.note.empty())
            lines.append(u"%1: %2"_s.arg(toQt(run.mode), toQt(run.note)));
    return lines.join(u'\n');
}

}  // namespace

HonestyStrip::HonestyStrip(QWidget* parent) : QFrame(parent)
{
    setObjectName(u"honestyStrip"_s);
    setAccessibleName(tr("Origin and limits of the figures"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 5, 14, 5);
    layout->setSpacing(18);
    m_origin = makeLabel({}, u"warn"_s, this);
    layout->addWidget(m_origin);
    m_steps = new ElidedLabel(this);  // the one that grows with the number of runs
    m_steps->setProperty("role", u"dim"_s);
    layout->addWidget(m_steps);
    for (QLabel** label : {&m_statistic, &m_classified, &m_losses, &m_size}) {
        *label = makeLabel({}, u"dim"_s, this);
        layout->addWidget(*label);
    }
    layout->addStretch(1);
    clear();
}

void HonestyStrip::setHonesty(const analysis::Honesty& honesty, const Trace& trace)
{
    m_origin->setText(originText(honesty.origin));
    m_steps->setText(toQt(honesty.steps));
    m_statistic->setText(toQt(honesty.statistic));
    m_classified->setText(toQt(honesty.classified));
    m_classified->setToolTip(honesty.framework.empty() ? QString() : tr("Made by %1").arg(toQt(honesty.framework)));
    m_losses->setText(toQt(honesty.losses));
    setRole(m_losses, honesty.lossy ? u"bad"_s : u"dim"_s);
    m_losses->setToolTip(diagnosticsText(trace));
    m_size->setText(tr("%1 slices").arg(QLocale().toString(static_cast<qulonglong>(trace.sliceCount()))));
}

void HonestyStrip::clear()
{
    m_origin->setText(tr("No trace is open"));
    for (QLabel* label : {m_steps, m_statistic, m_classified, m_losses, m_size})
        label->clear();
}

}  // namespace fp8scope::gui
