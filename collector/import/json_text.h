// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace fp8scope::import {

/// The text of a JSON string, given with its quotes. Bad escapes are mended, and `mended` set; what is no string stands
/// as it is.
[[nodiscard]] std::string unescapedJson(std::string_view quoted, bool* mended = nullptr);

/// A JSON array or object on one line: one blank after each comma, none elsewhere.
[[nodiscard]] std::string compactJson(std::string_view json);

}  // namespace fp8scope::import
