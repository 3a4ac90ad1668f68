// SPDX-License-Identifier: Apache-2.0
// The layers of a run that no module names: what repeats in its steps.
#pragma once

#include "collector/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fp8scope::analysis {

/// A stretch of a sequence that repeats a unit: elements first .. first + unit * count.
struct Repetition {
    std::size_t first = 0;
    std::size_t unit = 0;
    std::size_t count = 0;
    [[nodiscard]] std::size_t end() const { return first + unit * count; }
};

/// The longest stretch that repeats a unit of at least four elements at least three times; of units that cover about as
/// much the shortest. Up to a tenth of the elements may differ from one repetition to the next.
[[nodiscard]] std::optional<Repetition> longestRepetition(std::span<const std::uint32_t> tokens);

/// Gives a run without layers those of the repeating kernel sequence of its steps: the first stretch with matrix
/// products that repeats is the forward pass; where the step also updates weights, one behind it that repeats as often
/// is the backward pass, in reverse order. Says so in a diagnostic "layers". Works on the queue with the most slices.
void findLayers(Trace& trace, RunId run);

/// Gives quantization slices of no layer the layer and phase of the product that they feed.
void attachQuantization(Trace& trace, RunId run);

}  // namespace fp8scope::analysis
