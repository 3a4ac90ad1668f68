// SPDX-License-Identifier: Apache-2.0
// One clock for the ranks of a job.
#include "collector/import/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <unordered_map>

namespace fp8scope::import {
namespace {

constexpr std::int64_t kMostApartNs = 86'400'000'000'000;  ///< a day: files further apart are of no common job
constexpr std::size_t kLeastShared = 8;
constexpr std::int64_t kMostCorrectionNs = 100'000'000;

/// Its members leave it together: one that waits for nobody's data, such as a broadcast or a send, does not count.
bool endsTogether(std::string_view collective)
{
    for (const std::string_view kind : {"allreduce", "all_reduce", "allgather", "all_gather", "reduce_scatter",
                                        "alltoall", "all_to_all", "barrier"}) {
        if (collective.find(kind) != std::string_view::npos)
            return true;
    }
    return false;
}

std::int64_t median(std::vector<std::int64_t>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::int64_t firstNs(const Trace& trace)
{
    std::int64_t first = trace.timeRange().startNs;
    for (const Sample& sample : trace.samples)
        first = std::min(first, sample.timeNs);
    return first;
}

/// By how much `rank`'s clock is behind the reference's, of what both know; 0 where that is not clear.
std::int64_t correction(const std::vector<CollectiveEnd>& reference, std::int64_t referenceShift,
                        const std::vector<CollectiveEnd>& rank, std::int64_t rankShift)
{
    std::unordered_map<std::string_view, std::int64_t> ends;
    for (const CollectiveEnd& end : reference)
        ends.emplace(end.key, end.endNs + referenceShift);
    std::vector<std::int64_t> behind;
    for (const CollectiveEnd& end : rank) {
        if (const auto same = ends.find(end.key); same != ends.end())
            behind.push_back(same->second - (end.endNs + rankShift));
    }
    if (behind.size() < kLeastShared)
        return 0;
    const std::int64_t shift = median(behind);
    std::vector<std::int64_t> spread;
    for (const std::int64_t value : behind)
        spread.push_back(std::abs(value - shift));
    return std::abs(shift) <= kMostCorrectionNs && median(spread) * 2 < std::abs(shift) ? shift : 0;
}

bool alignByWallClock(const std::vector<ImportedRank>& ranks, std::vector<std::int64_t>& shifts)
{
    const auto [first, last] =
        std::minmax_element(ranks.begin(), ranks.end(),
                            [](const ImportedRank& a, const ImportedRank& b) { return a.epochWallNs < b.epochWallNs; });
    if (first->epochWallNs == 0 || last->epochWallNs - first->epochWallNs > kMostApartNs)
        return false;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        shifts[i] = ranks[i].epochWallNs - first->epochWallNs;
    return true;
}

void refine(const std::vector<ImportedRank>& ranks, ClockAlignment& clocks)
{
    std::uint64_t corrected = 0;
    std::int64_t most = 0;
    for (std::size_t i = 1; i < ranks.size(); ++i) {
        const std::int64_t by =
            correction(ranks[0].collectives, clocks.shiftNs[0], ranks[i].collectives, clocks.shiftNs[i]);
        clocks.shiftNs[i] += by;
        corrected += by != 0 ? 1 : 0;
        most = std::max(most, std::abs(by));
    }
    if (corrected > 0) {
        clocks.diagnostics.push_back(
            {.name = "clocks_corrected",
             .severity = Severity::Info,
             .count = corrected,
             .text = fmt::format("ranks' clocks were corrected by the collectives that they share with the first, by "
                                 "up to {:.3f} ms",
                                 static_cast<double>(most) / 1e6)});
    }
}

}  // namespace

std::vector<CollectiveEnd> collectiveEnds(const RawEvents& raw)
{
    std::vector<const DeviceEvent*> events;
    for (const DeviceEvent& event : raw.device) {
        if (event.arguments != DeviceEvent::kNoArguments && endsTogether(raw.arguments[event.arguments].collective))
            events.push_back(&event);
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const DeviceEvent* a, const DeviceEvent* b) { return a->startNs < b->startNs; });
    std::vector<CollectiveEnd> ends;
    std::map<std::string, std::uint64_t> before;
    for (const DeviceEvent* event : events) {
        const Arguments& said = raw.arguments[event->arguments];
        std::string key = fmt::format("{}/{}/{}", said.group, said.groupRanks, said.collective);
        if (said.sequence >= 0) {
            key += fmt::format("#{}", said.sequence);
        } else {
            key += fmt::format("/{}", said.messageElements);
            key += fmt::format("~{}", before[key]++);
        }
        ends.push_back({std::move(key), event->startNs + event->durNs});
    }
    return ends;
}

ClockAlignment alignClocks(const std::vector<ImportedRank>& ranks)
{
    ClockAlignment clocks;
    clocks.shiftNs.assign(ranks.size(), 0);
    if (ranks.empty())
        return clocks;
    const bool wall = alignByWallClock(ranks, clocks.shiftNs);
    if (wall) {
        refine(ranks, clocks);
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 0; i < ranks.size(); ++i)
            first = std::min(first, firstNs(ranks[i].trace) + clocks.shiftNs[i]);
        for (std::int64_t& shift : clocks.shiftNs)
            shift -= first;
        clocks.epochWallNs = ranks[0].epochWallNs - clocks.shiftNs[0];
        return clocks;
    }
    for (std::size_t i = 0; i < ranks.size(); ++i)
        clocks.shiftNs[i] = -firstNs(ranks[i].trace);
    if (ranks.size() > 1) {
        clocks.diagnostics.push_back(
            {.name = "clocks_not_aligned",
             .severity = Severity::Error,
             .count = 1,
             .text = "the files do not tell a common time, so each rank's clock starts with its own first event: times "
                     "of different ranks cannot be compared"});
    }
    return clocks;
}

}  // namespace fp8scope::import
