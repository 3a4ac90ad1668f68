// SPDX-License-Identifier: Apache-2.0
#include "collector/import/json_text.h"

#include "collector/import/mend_json.h"

#include <simdjson.h>

namespace fp8scope::import {

namespace {

bool unescape(std::string_view quoted, std::string& text)
{
    const simdjson::padded_string padded(quoted);
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    std::string_view plain;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_string().get(plain) != simdjson::SUCCESS)
        return false;
    text = plain;
    return true;
}

}  // namespace

std::string unescapedJson(std::string_view quoted, bool* mended)
{
    const bool hasQuotes = quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"';
    const std::string_view inner = hasQuotes ? quoted.substr(1, quoted.size() - 2) : quoted;
    std::string text;
    if (!hasQuotes || inner.find('\\') == std::string_view::npos)
        return std::string(inner);
    if (unescape(quoted, text))
        return text;
    if (mended != nullptr)
        *mended = true;
    return unescape(mendedJson(quoted), text) ? text : std::string(inner);
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
