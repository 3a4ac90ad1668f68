// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace fp8scope::import {

/// The text of a JSON string, given with its quotes. What is no valid string stands as it is.
[[nodiscard]] std::string unescapedJson(std::string_view quoted);

/// A JSON array or object on one line: one blank after each comma, none elsewhere.
[[nodiscard]] std::string compactJson(std::string_view json);

}  // namespace fp8scope::import
