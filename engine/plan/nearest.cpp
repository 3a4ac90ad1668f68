// SPDX-License-Identifier: Apache-2.0
// Optimal string alignment distance, row by row, and the search over candidates.
#include "engine/plan/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace fp8scope::plan {

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> beforeLast(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], beforeLast[j - 2] + 1);
        }
        beforeLast.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates)
{
    std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
    std::optional<std::string> found;
    for (const std::string& candidate : candidates) {
        const std::string_view whole = candidate;
        const std::string_view lastPart = whole.substr(whole.rfind('.') + 1);  // npos + 1 is 0: the whole word
        const std::size_t distance = std::min(editDistance(word, whole), editDistance(word, lastPart));
        if (distance < best) {
            best = distance;
            found = candidate;
        }
    }
    return found;
}

}  // namespace fp8scope::plan
