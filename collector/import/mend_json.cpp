// SPDX-License-Identifier: Apache-2.0
#include "collector/import/mend_json.h"

#include "collector/trace/utf8.h"

#include <algorithm>
#include <cctype>

namespace fp8scope::import {
namespace {

constexpr bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
constexpr bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20; }
bool isWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Mender {
public:
    explicit Mender(std::string_view text) : m_in(text) { m_out.reserve(text.size() + 16); }

    std::string run()
    {
        while (m_at < m_in.size())
            step();
        return std::move(m_out);
    }

private:
    void step()
    {
        const char c = m_in[m_at];
        if (c == '"')
            return string();
        if (isWordPart(c) || c == '-' || c == '+' || c == '.')
            return word();
        if (c == '{' || c == '[')
            m_open.push_back(c);
        if ((c == '}' || c == ']') && !m_open.empty())
            m_open.pop_back();
        if (c == '{' || c == ',')
            m_keyNext = !m_open.empty() && m_open.back() == '{';
        if (c == ':')
            m_keyNext = false;
        if (c == '}' || c == ']')
            dropTrailingComma();
        m_out += isControl(c) && !isSpace(c) ? ' ' : c;
        ++m_at;
    }

    void dropTrailingComma()
    {
        std::size_t end = m_out.size();
        while (end > 0 && isSpace(m_out[end - 1]))
            --end;
        if (end > 0 && m_out[end - 1] == ',')
            m_out.erase(end - 1, 1);
    }

    /// Numbers, true, false and null pass; `tid": 1` is a key that lost its quote; anything else is no JSON.
    void word()
    {
        const std::size_t begin = m_at;
        while (m_at < m_in.size() &&
               (isWordPart(m_in[m_at]) || std::string_view("+-.").find(m_in[m_at]) != std::string_view::npos))
            ++m_at;
        const std::string_view text = m_in.substr(begin, m_at - begin);
        if (m_keyNext && m_at < m_in.size() && m_in[m_at] == '"') {
            m_out.append("\"").append(text).append("\"");
            ++m_at;
            return;
        }
        const bool number = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
        const bool known = number || text == "true" || text == "false" || text == "null";
        m_out.append(known ? text : std::string_view("null"));
    }

    void string()
    {
        const bool key = m_keyNext;
        m_out += '"';
        for (++m_at; m_at < m_in.size(); ++m_at) {
            const char c = m_in[m_at];
            if (c == '"' && closes(m_at + 1, key)) {
                m_out += '"';
                ++m_at;
                return;
            }
            if (c == '"')
                m_out += "\\\"";
            else if (c == '\\')
                backslash(key);
            else if (isControl(c))
                control(c);
            else
                m_out += c;
        }
    }

    /// An escape stays one; otherwise the backslash itself is meant, as in C:\Users, and in "C:\dir\" before a quote.
    void backslash(bool key)
    {
        const std::string_view next = m_in.substr(m_at + 1, 5);
        const bool escape = !next.empty() && std::string_view("\\/bfnrt").find(next[0]) != std::string_view::npos;
        const bool unicode = next.size() == 5 && next[0] == 'u' &&
                             std::all_of(next.begin() + 1, next.end(),
                                         [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
        const bool quote = !next.empty() && next[0] == '"' && !closes(m_at + 2, key);
        if (!escape && !unicode && !quote) {
            m_out += "\\\\";
            return;
        }
        m_out += '\\';
        m_out += next[0];
        ++m_at;
    }

    void control(char c)
    {
        static constexpr char kHex[] = "0123456789abcdef";
        m_out.append("\\u00");
        m_out += kHex[static_cast<unsigned char>(c) >> 4U];
        m_out += kHex[static_cast<unsigned char>(c) & 0xFU];
    }

    std::size_t skipSpace(std::size_t i) const
    {
        while (i < m_in.size() && isSpace(m_in[i]))
            ++i;
        return i;
    }

    /// Whether what follows a quote can follow a string's end. A comma alone does not say: it must be followed by the
    /// next key of an object, or the next value of an array.
    bool closes(std::size_t i, bool key) const
    {
        i = skipSpace(i);
        if (i >= m_in.size())
            return true;
        const char c = m_in[i];
        if (key)
            return c == ':';
        if (c == '}' || c == ']')
            return true;
        if (c != ',')
            return false;
        i = skipSpace(i + 1);
        const bool inObject = m_open.empty() || m_open.back() == '{';
        return i >= m_in.size() ||
               (inObject ? isKeyAt(i) : std::string_view(",:").find(m_in[i]) == std::string_view::npos);
    }

    /// `"word":`, `word":` or the bracket after a comma too many.
    bool isKeyAt(std::size_t i) const
    {
        if (m_in[i] == '}')
            return true;
        if (m_in[i] == '"')
            ++i;
        const std::size_t quote = m_in.find_first_of("\"\n,:{}", i);
        if (quote == std::string_view::npos || m_in[quote] != '"')
            return false;
        const std::size_t colon = skipSpace(quote + 1);
        return colon < m_in.size() && m_in[colon] == ':';
    }

    std::string_view m_in;
    std::size_t m_at = 0;
    std::string m_out, m_open;
    bool m_keyNext = false;
};

}  // namespace

std::string mendedJson(std::string_view text)
{
    const std::string utf8 = mendedUtf8(text);
    return Mender(utf8).run();
}

}  // namespace fp8scope::import
