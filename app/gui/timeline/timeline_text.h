// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline says in words: of a step, a range, a slice, and of what lies under the mouse.
#pragma once

#include "app/gui/timeline/timeline_scene.h"

#include <QString>

namespace fp8scope::gui {

/// "step 7 · 13.9 ms · loss 0.0412".
[[nodiscard]] QString stepText(const Step& step);
/// "range 7.9 ms".
[[nodiscard]] QString rangeText(const TimeSpan& range);

/// Rich text: the name, what it is, its times and rates, its neighbours. Times are relative to `zeroNs`.
[[nodiscard]] QString sliceDetails(const LoadedTrace& loaded, SliceRef slice, double zeroNs);
/// Rich text on a selection without a slice: a name, op, layer or family.
[[nodiscard]] QString selectionDetails(const LoadedTrace& loaded, const Selection& selection);

/// Rich text for a tooltip; empty over nothing.
[[nodiscard]] QString hitText(const TimelineScene& scene, const Hit& hit, QPoint point);

/// What selecting a slice means: all of its ids.
[[nodiscard]] Selection selectionOf(const Trace& trace, SliceRef slice);

}  // namespace fp8scope::gui
