// SPDX-License-Identifier: Apache-2.0
#include "collector/import/id_index.h"

#include <algorithm>

namespace fp8scope::import {
namespace {

constexpr std::uint64_t kSparsest = 8;  ///< places of the array for each row: 32 bytes, no more than sorting needs

}  // namespace

IdIndex::IdIndex(std::vector<Entry> entries)
{
    if (entries.empty())
        return;
    const auto [least, most] =
        std::minmax_element(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
    m_first = least->id;
    const std::uint64_t last = most->id;
    if ((last - m_first) / kSparsest <= entries.size()) {
        fillDense(entries, last);
        return;
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
    const auto end =
        std::unique(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.id == b.id; });
    m_collisions = static_cast<std::size_t>(entries.end() - end);
    entries.erase(end, entries.end());
    m_sorted = std::move(entries);
}

void IdIndex::fillDense(const std::vector<Entry>& entries, std::uint64_t last)
{
    m_dense.assign(static_cast<std::size_t>(last - m_first) + 1, kNone);
    for (const Entry& entry : entries) {
        std::uint32_t& place = m_dense[static_cast<std::size_t>(entry.id - m_first)];
        if (place == kNone)
            place = entry.row;
        else
            ++m_collisions;
    }
}

std::uint32_t IdIndex::find(std::uint64_t id) const
{
    if (!m_dense.empty())
        return id >= m_first && id - m_first < m_dense.size() ? m_dense[static_cast<std::size_t>(id - m_first)] : kNone;
    const auto found = std::lower_bound(m_sorted.begin(), m_sorted.end(), id,
                                        [](const Entry& e, std::uint64_t i) { return e.id < i; });
    return found != m_sorted.end() && found->id == id ? found->row : kNone;
}

}  // namespace fp8scope::import
