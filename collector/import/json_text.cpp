// SPDX-License-Identifier: Apache-2.0
#include "collector/import/json_text.h"

#include <simdjson.h>

namespace fp8scope::import {

std::string unescapedJson(std::string_view quoted)
{
    const bool hasQuotes = quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"';
    const std::string_view inner = hasQuotes ? quoted.substr(1, quoted.size() - 2) : quoted;
    if (!hasQuotes || inner.find('\\') == std::string_view::npos)
        return std::string(inner);
    const simdjson::padded_string padded(quoted);
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    std::string_view text;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_string().get(text) != simdjson::SUCCESS)
        return std::string(inner);
    return std::string(text);
}

std::string compactJson(std::string_view json)
{
    std::string line;
    line.reserve(json.size());
    bool inString = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (inString && c == '\\' && i + 1 < json.size()) {
            line += c;
            line += json[++i];
            continue;
        }
        if (c == '"')
            inString = !inString;
        if (!inString && (c == ' ' || c == '\n' || c == '\r' || c == '\t'))
            continue;
        line += c;
        if (!inString && c == ',')
            line += ' ';
    }
    return line;
}

}  // namespace fp8scope::import
