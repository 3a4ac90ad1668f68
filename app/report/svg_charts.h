// SPDX-License-Identifier: Apache-2.0
// The two charts as inline SVG, in the light theme's colours.
#pragma once

#include "app/report/report.h"

#include <string>
#include <string_view>

namespace fp8scope::report {

/// Text inside HTML or SVG, attributes included.
[[nodiscard]] std::string htmlEscaped(std::string_view text);
[[nodiscard]] std::string_view familyColor(Family);
/// One stacked bar a run on a common scale, with a legend of the families that occur. Each segment has a tooltip.
[[nodiscard]] std::string familyBarsSvg(const FamilyBars&);
/// Bars from the one step to the other; each starts where the one before it ended.
[[nodiscard]] std::string waterfallSvg(const analysis::SpeedupAccount&);

}  // namespace fp8scope::report
