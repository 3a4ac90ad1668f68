// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/text.h"

#include "app/gui/theme.h"

#include <QCoreApplication>

#include <cmath>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

QString timeText(std::int64_t ns) { return toQt(analysis::formatTime(ns)); }

QString gainText(std::int64_t gainNs)
{
    if (gainNs == 0)
        return QCoreApplication::translate("Advice", "note");
    const QString time = timeText(std::abs(gainNs));
    return gainNs > 0 ? QString(u"\u2212"_s + time) : QString(u"+"_s + time);
}

QString gainIntervalText(const analysis::Interval& ns)
{
    const std::int64_t low = std::llround(ns.low);
    const std::int64_t high = std::llround(ns.high);
    if (low == high)
        return {};
    return QCoreApplication::translate("Advice", "%1 to %2").arg(timeText(low), timeText(high));
}

QString familyText(Family family)
{
    return QCoreApplication::translate("Family", std::string(toString(family)).c_str());
}

QString originText(Origin origin)
{
    return QCoreApplication::translate("Origin", std::string(describe(origin)).c_str());
}

QString richText(const std::vector<analysis::TextSpan>& spans, const Theme& theme)
{
    QString html;
    for (const analysis::TextSpan& span : spans) {
        const QString escaped = toQt(span.text).toHtmlEscaped();
        if (span.tone == analysis::Tone::Plain)
            html += escaped;
        else
            html += u"<span style=\"color:%1\">%2</span>"_s.arg(theme.tone(span.tone).name(), escaped);
    }
    return html;
}

}  // namespace fp8scope::gui
