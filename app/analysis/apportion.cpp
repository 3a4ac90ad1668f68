// SPDX-License-Identifier: Apache-2.0
// Largest remainder: parts in proportion that add up exactly.
#include "app/analysis/breakdown.h"

#include <algorithm>
#include <numeric>

namespace fp8scope::analysis {

std::vector<std::int64_t> apportion(std::int64_t total, std::span<const std::int64_t> weights)
{
    // 128 bits: nanoseconds of an hour times nanoseconds of an hour do not fit 64.
    __extension__ using Wide = __int128;
    std::vector<std::int64_t> parts(weights.size(), 0);
    if (weights.empty())
        return parts;
    const std::int64_t sum = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    if (sum == 0) {
        parts.back() = total;
        return parts;
    }
    std::vector<std::int64_t> remainders(weights.size());
    std::int64_t left = total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Wide product = static_cast<Wide>(total) * weights[i];
        parts[i] = static_cast<std::int64_t>(product / sum);
        remainders[i] = static_cast<std::int64_t>(product % sum);
        left -= parts[i];
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; left > 0; ++i, --left)
        ++parts[order[i]];
    return parts;
}

}  // namespace fp8scope::analysis
