// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace fp8scope {

/// The text with every byte that is not part of a well-formed UTF-8 sequence replaced by U+FFFD, so that JSON writers
/// and the app can rely on it.
[[nodiscard]] std::string mendedUtf8(std::string_view text);

}  // namespace fp8scope
