// SPDX-License-Identifier: Apache-2.0
// "did you mean ...?": the candidate that a mistyped word was probably meant to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fp8scope::plan {

/// Edits (insert, delete, replace, swap neighbours) that turn one word into the other.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, or nullopt when none is near (more than a third of the word wrong). A candidate
/// with dots also matches by its last part alone: "learning_rate" finds "optimizer.learning_rate".
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace fp8scope::plan
