// SPDX-License-Identifier: GPL-3.0-or-later
// Between the analysis' UTF-8 strings and Qt's, and the few phrases that several pages say.
#pragma once

#include "app/analysis/overview.h"
#include "collector/trace/words.h"

#include <QString>

#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::gui {

struct Theme;

[[nodiscard]] inline QString toQt(std::string_view utf8)
{
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}
[[nodiscard]] inline std::string toStd(const QString& text) { return text.toStdString(); }

/// "64.5 ms"; the same words as the command's.
[[nodiscard]] QString timeText(std::int64_t ns);
/// A gain is negative time: "−14.0 ms"; "note" for 0.
[[nodiscard]] QString gainText(std::int64_t gainNs);
/// "12.1 to 15.3 ms"; empty when the interval is a point.
[[nodiscard]] QString gainIntervalText(const analysis::Interval& ns);
/// The family's name as charts and tables show it, translated.
[[nodiscard]] QString familyText(Family family);
/// "measured on a CPU".
[[nodiscard]] QString originText(Origin origin);
/// Rich text with the tones' colours.
[[nodiscard]] QString richText(const std::vector<analysis::TextSpan>& spans, const Theme& theme);

}  // namespace fp8scope::gui
