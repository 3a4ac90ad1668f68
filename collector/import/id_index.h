// SPDX-License-Identifier: Apache-2.0
// Finds rows by the ids that profilers count up: correlation ids, External ids, flow ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8scope::import {

inline constexpr std::uint32_t kNone = UINT32_MAX;  ///< "no such row"

/// An array where ids are dense, as they nearly always are; else a sorted list. Of rows with one id the first counts.
class IdIndex {
public:
    struct Entry {
        std::uint64_t id = 0;
        std::uint32_t row = kNone;
    };
    IdIndex() = default;
    explicit IdIndex(std::vector<Entry> entries);
    /// The row, or kNone.
    [[nodiscard]] std::uint32_t find(std::uint64_t id) const;
    /// Rows that were hidden by an earlier one with the same id.
    [[nodiscard]] std::size_t collisions() const { return m_collisions; }

private:
    void fillDense(const std::vector<Entry>& entries, std::uint64_t last);
    std::uint64_t m_first = 0;
    std::vector<std::uint32_t> m_dense;
    std::vector<Entry> m_sorted;
    std::size_t m_collisions = 0;
};

}  // namespace fp8scope::import
