// SPDX-License-Identifier: GPL-3.0-or-later
// What lies in a range of time, by family: counts and busy times at once from the pyramids, exposed times from the
// analysis.
#pragma once

#include "app/gui/timeline/timeline_index.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fp8scope::gui {

/// Of the queues of `runs`, whose indices must be built; tracks without are left out.
[[nodiscard]] FamilyTotals familyTotals(const Trace& trace, const TimelineIndex& index, std::span<const RunId> runs,
                                        TimeSpan range);

/// Exposed time by family, idle included, over the part of the range that lies in each run; they add up to `wallNs`
/// exactly.
struct ExposedFamilies {
    std::array<std::int64_t, kFamilyCount> ns{};
    std::int64_t wallNs = 0;
};
[[nodiscard]] ExposedFamilies exposedFamilies(const Trace& trace, std::span<const RunId> runs, TimeSpan range);

}  // namespace fp8scope::gui
