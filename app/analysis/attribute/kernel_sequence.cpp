// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/attribute/kernel_sequence.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fp8scope::analysis {
namespace {

constexpr double kLeastCovered = 0.7;
constexpr double kLeastSimilar = 0.8;
constexpr std::size_t kCutsKept = 16;  ///< of one period
constexpr std::size_t kPeriodsTried = 24;

using Positions = std::vector<std::size_t>;

/// Positions of equal runs of `gram` elements, by the runs' hash.
std::vector<std::pair<std::uint64_t, std::uint32_t>> hashedGrams(std::span<const std::uint32_t> tokens,
                                                                 std::size_t gram)
{
    constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> grams;
    if (tokens.size() < gram)
        return grams;
    std::uint64_t first = 1;  // the weight of a run's first element
    for (std::size_t i = 1; i < gram; ++i)
        first *= kBase;
    std::uint64_t hash = 0;
    grams.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i >= gram)
            hash -= (tokens[i - gram] + std::uint64_t{1}) * first;
        hash = hash * kBase + tokens[i] + 1;
        if (i + 1 >= gram)
            grams.emplace_back(hash, static_cast<std::uint32_t>(i + 1 - gram));
    }
    std::sort(grams.begin(), grams.end());
    return grams;
}

/// At even distances, over most of the sequence.
bool marksRepetitions(const Positions& positions, std::size_t length)
{
    if (positions.size() < 2)
        return false;
    std::vector<std::size_t> gaps;
    for (std::size_t i = 1; i < positions.size(); ++i)
        gaps.push_back(positions[i] - positions[i - 1]);
    std::sort(gaps.begin(), gaps.end());
    const std::size_t median = gaps[gaps.size() / 2];
    const bool even = gaps.front() * 2 >= median && gaps.back() * 2 <= median * 3;
    const std::size_t covered = std::min(positions.back() - positions.front() + median, length);
    return even && static_cast<double>(covered) >= kLeastCovered * static_cast<double>(length);
}

void addCuts(std::span<const std::uint32_t> tokens, std::size_t gram, std::map<std::size_t, Period>& byCount)
{
    const auto grams = hashedGrams(tokens, gram);
    Positions positions;
    for (std::size_t first = 0; first < grams.size();) {
        positions.clear();
        std::size_t last = first;
        for (; last < grams.size() && grams[last].first == grams[first].first; ++last)
            positions.push_back(grams[last].second);
        first = last;
        if (positions.size() < 2)
            continue;
        Period& period = byCount[positions.size()];
        if (period.cuts.size() < kCutsKept && marksRepetitions(positions, tokens.size()))
            period.cuts.push_back(positions);
    }
}

/// What neighbouring repetitions have in common, over what they have at all.
double similarityOf(std::span<const std::uint32_t> tokens, const Positions& starts, std::size_t alphabet)
{
    std::vector<std::int32_t> count(alphabet);
    std::size_t common = 0;
    std::size_t total = 0;
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
        const std::size_t middle = starts[s + 1];
        // What is left of the last repetition is compared with as much of the one before.
        const bool isLast = s + 2 == starts.size();
        const std::size_t end = isLast ? std::min(tokens.size(), middle + (middle - starts[s])) : starts[s + 2];
        const std::size_t begin = isLast ? middle - (end - middle) : starts[s];
        for (std::size_t i = begin; i < middle; ++i)
            ++count[tokens[i]];
        for (std::size_t i = middle; i < end; ++i)
            common += count[tokens[i]]-- > 0 ? 1 : 0;
        total += std::max(middle - begin, end - middle);
        for (std::size_t i = begin; i < end; ++i)
            count[tokens[i]] = 0;
    }
    return total > 0 ? static_cast<double>(common) / static_cast<double>(total) : 0;
}

}  // namespace

TrackId busiestQueue(const Trace& trace, RunId run)
{
    TrackId busiest;
    std::size_t most = 0;
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        if (track.run != run || track.kind != TrackKind::DeviceQueue || track.slices.size() <= most)
            continue;
        busiest = TrackId(t);
        most = track.slices.size();
    }
    return busiest;
}

std::vector<Period> findPeriods(std::span<const std::uint32_t> tokens)
{
    std::map<std::size_t, Period> byCount;
    for (const std::size_t gram : {1U, 4U, 16U})
        addCuts(tokens, gram, byCount);
    std::vector<Period> periods;
    for (auto& [count, period] : byCount) {
        if (period.cuts.empty())
            continue;
        period.repetitions = count;
        periods.push_back(std::move(period));
    }
    // The more marks agree on a number, the likelier it is; each trial costs a pass over the sequence.
    std::stable_sort(periods.begin(), periods.end(),
                     [](const Period& a, const Period& b) { return a.cuts.size() > b.cuts.size(); });
    if (periods.size() > kPeriodsTried)
        periods.resize(kPeriodsTried);
    const std::size_t alphabet = tokens.empty() ? 0 : *std::max_element(tokens.begin(), tokens.end()) + std::size_t{1};
    for (Period& period : periods)
        period.similarity = similarityOf(tokens, period.cuts.front(), alphabet);
    std::erase_if(periods, [](const Period& p) { return p.similarity < kLeastSimilar; });
    std::stable_sort(periods.begin(), periods.end(), [](const Period& a, const Period& b) {
        return a.similarity != b.similarity ? a.similarity > b.similarity : a.repetitions > b.repetitions;
    });
    return periods;
}

bool repeatsInside(std::span<const std::uint32_t> tokens)
{
    constexpr std::size_t kGram = 4;
    const auto grams = hashedGrams(tokens, kGram);
    std::size_t times = 0;
    std::size_t nextFree = 0;
    for (std::size_t i = 0; i < grams.size(); ++i) {
        if (i == 0 || grams[i].first != grams[i - 1].first) {
            times = 0;
            nextFree = 0;
        }
        const auto gram = tokens.subspan(grams[i].second, kGram);
        if (grams[i].second < nextFree || std::equal(gram.begin() + 1, gram.end(), gram.begin()))
            continue;
        nextFree = grams[i].second + kGram;
        if (++times == 3)
            return true;
    }
    return false;
}

}  // namespace fp8scope::analysis
