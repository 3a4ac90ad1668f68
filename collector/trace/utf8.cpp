// SPDX-License-Identifier: Apache-2.0
// Mends text that is not UTF-8 (well-formed sequences: table 3-7 of the Unicode standard).
#include "collector/trace/utf8.h"

#include <cstddef>

namespace fp8scope {
namespace {

/// Bytes of the well-formed sequence that `text` starts with, or 0.
std::size_t sequenceLength(std::string_view text)
{
    const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = at(0);
    if (lead < 0x80)
        return 1;
    const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                               : lead >= 0xe0 && lead <= 0xef ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    if (length == 0 || text.size() < length)
        return 0;
    const unsigned leastSecond = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;  // no overlong forms
    const unsigned mostSecond = lead == 0xed   ? 0x9f
                                : lead == 0xf4 ? 0x8f
                                               : 0xbf;  // no surrogates, nothing past U+10FFFF
    if (at(1) < leastSecond || at(1) > mostSecond)
        return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (at(i) < 0x80 || at(i) > 0xbf)
            return 0;
    }
    return length;
}

}  // namespace

std::string mendedUtf8(std::string_view text)
{
    std::string mended;
    mended.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = sequenceLength(text);
        if (length == 0)
            mended += "\xef\xbf\xbd";
        else
            mended += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return mended;
}

}  // namespace fp8scope
