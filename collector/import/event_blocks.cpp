// SPDX-License-Identifier: Apache-2.0
#include "collector/import/event_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace fp8scope::import {
namespace {

/// An event of more is given up: no profiler writes one, and memory must stay bounded.
constexpr std::size_t kMaxBlock = std::size_t{64} << 20;

constexpr std::array<std::string_view, 18> kEventKeys{"ph",   "name",  "cat",   "pid", "tid", "ts",
                                                      "dur",  "id",    "args",  "bp",  "s",   "tts",
                                                      "tdur", "scope", "cname", "id2", "sf",  "v"};

constexpr bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool beginsWithEventKey(std::string_view text, std::size_t brace)
{
    std::size_t i = brace + 1;
    while (i < text.size() && isSpace(text[i]))
        ++i;
    if (i >= text.size() || text[i] != '"')
        return false;
    const std::string_view rest = text.substr(i + 1, 8);
    const std::size_t quote = rest.find('"');
    return quote != std::string_view::npos &&
           std::find(kEventKeys.begin(), kEventKeys.end(), rest.substr(0, quote)) != kEventKeys.end();
}

/// Whether the '{' at `brace` is the beginning of an event that follows another one; `end` is then behind that one's
/// '}'.
bool isBorder(std::string_view text, std::size_t brace, std::size_t& end)
{
    std::size_t i = brace;
    const auto back = [&](char wanted) {
        while (i > 0 && isSpace(text[i - 1]))
            --i;
        return i > 0 && text[--i] == wanted;
    };
    if (!back(',') || !back('}') || !beginsWithEventKey(text, brace))
        return false;
    end = i + 1;
    return true;
}

struct Border {
    std::size_t end = std::string_view::npos, next = 0;
    [[nodiscard]] bool found() const { return end != std::string_view::npos; }
};

Border lastBorder(std::string_view text)
{
    Border border;
    for (std::size_t at = text.rfind('{'); at != std::string_view::npos && at > 0; at = text.rfind('{', at - 1)) {
        if (isBorder(text, at, border.end)) {
            border.next = at;
            break;
        }
    }
    return border;
}

}  // namespace

std::size_t nextEventBorder(std::string_view text, std::size_t from)
{
    std::size_t end = 0;
    for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1)) {
        if (isBorder(text, at, end))
            return at;
    }
    return std::string_view::npos;
}

EventBlocks::EventBlocks(ByteSource& source, std::string head, std::size_t blockBytes)
    : m_source(source), m_carry(std::move(head)), m_blockBytes(blockBytes)
{}

void EventBlocks::fill(EventBlock& block, std::size_t bytes)
{
    const std::size_t room = 1 + std::max(bytes, m_carry.size()) + 1 + EventBlock::kPadding;
    if (block.m_storage.size() < room)
        block.m_storage.resize(room);
    block.m_storage[0] = '[';
    char* const text = block.m_storage.data() + 1;
    std::copy(m_carry.begin(), m_carry.end(), text);
    block.m_size = m_carry.size();
    if (block.m_size < bytes && !m_ended) {
        const std::size_t wanted = bytes - block.m_size;
        const std::size_t n = m_source.read({text + block.m_size, wanted});
        m_ended = n < wanted;
        block.m_size += n;
    }
}

bool EventBlocks::next(EventBlock& block)
{
    for (std::size_t bytes = m_blockBytes;; bytes *= 2) {
        fill(block, bytes);
        const std::string_view text = block.text();
        const Border border = m_ended ? Border{} : lastBorder(text);
        if (!border.found() && !m_ended && bytes < kMaxBlock) {
            m_carry.assign(text);
            continue;
        }
        m_carry = border.found() ? std::string(text.substr(border.next)) : std::string();
        if (border.found())
            block.m_size = border.end;
        break;
    }
    if (block.m_size == 0)
        return false;
    char* const end = block.m_storage.data() + 1 + block.m_size;
    *end = ']';
    std::memset(end + 1, 0, EventBlock::kPadding);
    return true;
}

}  // namespace fp8scope::import
