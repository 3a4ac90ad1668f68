// SPDX-License-Identifier: Apache-2.0
// Times as profilers print them, to integer ns. A double holds 53 bits: it loses the ns of 1712195495519689.047.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fp8scope::import {

/// Microseconds in decimal ("12", "-0.5", "1712195495519689.047", "1.7e15", also between quotes) as ns; digits below a
/// ns are cut off. nullopt for what is no number or leaves int64.
[[nodiscard]] std::optional<std::int64_t> nsFromMicroseconds(std::string_view text);

}  // namespace fp8scope::import
