// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace fp8scope::exporter {

/// UTF-8 text as it stands between the quotes of a JSON string.
[[nodiscard]] inline std::string escapedJson(std::string_view text)
{
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            escaped += '\\';
            escaped += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            escaped += c;
        }
    }
    return escaped;
}

}  // namespace fp8scope::exporter
