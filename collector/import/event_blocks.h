// SPDX-License-Identifier: Apache-2.0
// Cuts the array of trace events into blocks that can be parsed alone, in any order, on any thread.
//
// Nothing scans the text for it: a block ends at the last `}, {"key"` where key is one of the Trace Event format. In
// well formed JSON a quote that is followed by a key's letters and another quote is never inside of a string, so such a
// border is one between objects; should it be one between objects nested in an event's args, the block does not parse
// and is read by the careful path (readBlock).
#pragma once

#include "collector/import/byte_source.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::import {

/// Whole events (the last block: what is left of the file), as an array in a buffer that simdjson may read past.
class EventBlock {
public:
    static constexpr std::size_t kPadding = 64;  ///< of zeros, so that a parser that runs over the end stops there

    /// What stands between '[' and ']'.
    [[nodiscard]] std::string_view text() const { return {m_storage.data() + 1, m_size}; }
    /// With both brackets.
    [[nodiscard]] std::string_view array() const { return {m_storage.data(), m_size + 2}; }
    [[nodiscard]] std::size_t allocated() const { return m_storage.size(); }

private:
    friend class EventBlocks;
    std::vector<char> m_storage;
    std::size_t m_size = 0;
};

class EventBlocks {
public:
    /// `head`: what was read of the source already, from behind the array's '['.
    EventBlocks(ByteSource& source, std::string head, std::size_t blockBytes);
    /// The next block, into one whose storage may be used again. False when nothing is left.
    [[nodiscard]] bool next(EventBlock& into);

private:
    void fill(EventBlock& block, std::size_t bytes);

    ByteSource& m_source;
    std::string m_carry;
    std::size_t m_blockBytes;
    bool m_ended = false;
};

/// Where the first event after a border at or behind `from` begins (at its '{'), npos if there is none.
[[nodiscard]] std::size_t nextEventBorder(std::string_view text, std::size_t from);

}  // namespace fp8scope::import
