// SPDX-License-Identifier: Apache-2.0
// Profilers print JSON by concatenating strings, so names end up in it as they are.
#pragma once

#include <string>
#include <string_view>

namespace fp8scope::import {

/// The text of one JSON value, which does not parse, with what is known to go wrong put right: quotes, newlines,
/// control characters and backslashes in strings are escaped, bytes that are no UTF-8 replaced, a key's missing first
/// quote (PyTorch of early 2020) added, a comma before a bracket and words such as NaN taken out. Nothing is invented:
/// a text that ends early still does not parse.
[[nodiscard]] std::string mendedJson(std::string_view text);

}  // namespace fp8scope::import
