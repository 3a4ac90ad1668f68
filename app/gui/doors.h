// SPDX-License-Identifier: GPL-3.0-or-later
// Every figure is a door: from a figure, a bar or a finding to the slices behind it. Pure functions; pages call open().
#pragma once

#include "app/gui/context.h"

#include <optional>
#include <string_view>

namespace fp8scope::gui {

/// Where a click leads: what is selected, and the range that the timeline shows.
struct Door {
    Selection selection;
    std::optional<TimeSpan> range;
    [[nodiscard]] bool empty() const { return selection.empty() && !range; }
    friend bool operator==(const Door&, const Door&) = default;
};

/// To the slowest kernel of the family in that run; for Idle to the longest gap of the typical step.
[[nodiscard]] Door doorToFamily(const LoadedTrace&, RunId, Family);
/// To the used step whose duration is nearest to the median.
[[nodiscard]] Door doorToTypicalStep(const LoadedTrace&, RunId);
/// To the slowest slice of a kernel row.
[[nodiscard]] Door doorToKernel(RunId, const analysis::KernelTime&);
/// To the longest slice of a layer in the run's typical step.
[[nodiscard]] Door doorToLayer(const LoadedTrace&, RunId, LayerId);
/// To the first evidence that has slices or a layer.
[[nodiscard]] Door doorToFinding(const LoadedTrace&, const analysis::Finding&);
[[nodiscard]] Door doorToEvidence(const LoadedTrace&, RunId, const analysis::Evidence&);
/// The family that a bar of the speedup account is about, by its name ("quantization", "bias and its gradient"): the
/// account's bars are words. nullopt for bars of no one family ("rest").
[[nodiscard]] std::optional<Family> familyOfBar(std::string_view barName);
/// A figure card's door by its label ("Quantization tax" leads to the quantization of the run that it is about).
[[nodiscard]] Door doorToFigure(const LoadedTrace&, const analysis::Figure&);

/// The breakdown of a run, or nullptr.
[[nodiscard]] const analysis::Breakdown* breakdownOf(const analysis::Overview&, RunId);

/// Selects and goes to the timeline; an empty door does nothing.
void open(Context&, const Door&);

}  // namespace fp8scope::gui
