// SPDX-License-Identifier: Apache-2.0
// A small map from fixed words to what they mean, filled when compiled: a lookup is one hash of the length and three
// letters, and one comparison.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace fp8scope::import {

template <typename Value, std::size_t kSize>
class KeyTable {
public:
    template <std::size_t kCount>
    consteval explicit KeyTable(const std::pair<std::string_view, Value> (&entries)[kCount])
    {
        static_assert(kCount * 2 <= kSize);
        for (const auto& entry : entries) {
            std::size_t slot = slotOf(entry.first);
            while (!m_slots[slot].first.empty())
                slot = (slot + 1) % kSize;
            m_slots[slot] = entry;
        }
    }

    [[nodiscard]] Value find(std::string_view word, Value otherwise) const
    {
        if (word.empty())
            return otherwise;
        for (std::size_t slot = slotOf(word); !m_slots[slot].first.empty(); slot = (slot + 1) % kSize) {
            if (m_slots[slot].first == word)
                return m_slots[slot].second;
        }
        return otherwise;
    }

private:
    static constexpr std::size_t slotOf(std::string_view word)
    {
        const auto letter = [&](std::size_t i) {
            return static_cast<std::size_t>(static_cast<unsigned char>(word[i]));
        };
        return (word.size() * 7 + letter(0) * 31 + letter(word.size() / 2) * 5 + letter(word.size() - 1) * 13) % kSize;
    }

    std::array<std::pair<std::string_view, Value>, kSize> m_slots{};
};

}  // namespace fp8scope::import
