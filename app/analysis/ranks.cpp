// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/ranks.h"

#include "app/analysis/overview.h"
#include "app/analysis/slice_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace fp8scope::analysis {
namespace {

std::int32_t rankOf(const Trace& trace, RunId run)
{
    for (const Track& track : trace.tracks) {
        if (track.run == run && track.kind == TrackKind::DeviceQueue && track.process.valid() &&
            trace.processes[track.process.value].rank >= 0)
            return trace.processes[track.process.value].rank;
    }
    return static_cast<std::int32_t>(run.value);
}

RankRow rowOf(const Trace& trace, const Breakdown& b)
{
    RankRow row{.run = b.run, .name = b.mode, .rank = rankOf(trace, b.run), .stepNs = b.stepNs};
    row.communicationNs = b[Family::Communication].exposedNs;
    row.memoryNs = b[Family::MemoryOps].exposedNs;
    row.idleNs = b[Family::Idle].exposedNs;
    row.computeNs = b.stepNs - row.communicationNs - row.memoryNs - row.idleNs;
    return row;
}

/// One call of a collective on one rank.
struct Call {
    std::size_t row = 0;  ///< into RankComparison::ranks
    std::int64_t durNs = 0;
};

/// The calls that belong together: kind, step, place among its kind in the step.
using CallKey = std::tuple<std::string, std::uint32_t, std::uint32_t>;

/// "allreduce in group 0" where the op tells, else the kernel's function without its parameters.
std::string kindOf(const Trace& trace, const SliceColumns& slices, std::size_t i)
{
    const OpId op = slices.op[i];
    if (op.valid() && trace.op(op).role == Role::Comm && trace.op(op).n > 0)
        return fmt::format("{}, {} elements", trace.op(op).name, trace.op(op).n);
    const std::string& name = trace.name(slices.name[i]).text;
    return name.substr(0, std::min(name.find('('), name.size()));
}

class CallCollector {
public:
    CallCollector(const Trace& trace) : m_trace(trace), m_families(trace) {}

    void add(std::size_t row, const Breakdown& rank)
    {
        std::vector<std::pair<std::int64_t, SliceRef>> slices;
        for (std::uint32_t t = 0; t < m_trace.tracks.size(); ++t) {
            const Track& track = m_trace.tracks[t];
            if (track.run != rank.run || track.kind != TrackKind::DeviceQueue)
                continue;
            for (std::uint32_t i = 0; i < track.slices.size(); ++i) {
                if (m_families.of(track.slices, i).family == Family::Communication)
                    slices.push_back({track.slices.startNs[i], {TrackId(t), i}});
            }
        }
        std::sort(slices.begin(), slices.end());
        for (const Step& step : rank.steps.used)
            addStep(row, step, slices);
    }

    [[nodiscard]] const std::map<CallKey, std::vector<Call>>& calls() const { return m_calls; }

private:
    void addStep(std::size_t row, const Step& step, const std::vector<std::pair<std::int64_t, SliceRef>>& slices)
    {
        std::map<std::string, std::uint32_t> places;
        auto next = std::lower_bound(slices.begin(), slices.end(), std::pair(step.startNs, SliceRef{TrackId(0), 0}));
        for (; next != slices.end() && next->first < step.startNs + step.durNs; ++next) {
            const SliceColumns& columns = m_trace.track(next->second.track).slices;
            std::string kind = kindOf(m_trace, columns, next->second.index);
            const std::uint32_t place = places[kind]++;
            m_calls[{std::move(kind), step.index, place}].push_back({row, columns.durNs[next->second.index]});
        }
    }

    const Trace& m_trace;
    SliceFamilies m_families;
    std::map<CallKey, std::vector<Call>> m_calls;
};

struct Kind {
    CollectiveRow row;
    std::map<std::int32_t, std::size_t> last;  ///< how often each rank came last
};

void addCall(const std::vector<Call>& calls, RankComparison& result, Kind& kind)
{
    const auto last =
        std::min_element(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.durNs < b.durNs; });
    ++kind.row.matched;
    ++kind.last[result.ranks[last->row].rank];
    kind.row.workingNs += last->durNs;
    for (const Call& call : calls) {
        kind.row.waitingNs += call.durNs - last->durNs;
        result.ranks[call.row].collectivesNs += call.durNs;
        result.ranks[call.row].waitingNs += call.durNs - last->durNs;
    }
}

/// Each rank once, two at least: what all of them did together.
bool isWhole(const std::vector<Call>& calls)
{
    return calls.size() >= 2 && std::adjacent_find(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
                                    return a.row >= b.row;
                                }) == calls.end();
}

void matchCollectives(const CallCollector& collector, RankComparison& result)
{
    std::map<std::string, Kind> kinds;
    for (const auto& [key, calls] : collector.calls()) {
        if (!isWhole(calls)) {
            result.unmatched += calls.size();
            continue;
        }
        addCall(calls, result, kinds[std::get<0>(key)]);
    }
    for (auto& [name, kind] : kinds) {
        const auto most = std::max_element(kind.last.begin(), kind.last.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        kind.row.name = name;
        kind.row.lastRank = most->first;
        kind.row.lastShare = static_cast<double>(most->second) / static_cast<double>(kind.row.matched);
        result.collectives.push_back(std::move(kind.row));
    }
    std::stable_sort(result.collectives.begin(), result.collectives.end(),
                     [](const CollectiveRow& a, const CollectiveRow& b) { return a.waitingNs > b.waitingNs; });
}

std::int64_t median(std::vector<std::int64_t> values)
{
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

template <typename Value>
std::int64_t medianOf(const std::vector<RankRow>& ranks, Value&& value)
{
    std::vector<std::int64_t> values;
    for (const RankRow& row : ranks)
        values.push_back(value(row));
    return median(std::move(values));
}

void findStragglers(RankComparison& result)
{
    const std::int64_t waiting = medianOf(result.ranks, [](const RankRow& r) { return r.waitingNs; });
    const std::int64_t step = medianOf(result.ranks, [](const RankRow& r) { return r.stepNs; });
    std::string names;
    for (RankRow& row : result.ranks) {
        row.straggler = row.waitingNs * 2 < waiting && waiting * 50 >= step;
        if (row.straggler)
            names += (names.empty() ? "" : ", ") + row.name;
    }
    const double share = step > 0 ? static_cast<double>(waiting) / static_cast<double>(step) : 0;
    if (result.collectives.empty())
        result.verdict = "No collective was found on more than one rank, so waiting cannot be told from work.";
    else if (names.empty())
        result.verdict = fmt::format("No rank holds the others up: a rank waits {} a step in collectives ({}).",
                                     formatTime(waiting), formatPercent(share));
    else
        result.verdict = fmt::format("The others wait for {}: {} a step in collectives ({} of a step).", names,
                                     formatTime(waiting), formatPercent(share));
}

}  // namespace

RankComparison compareRanks(const Trace& trace, const std::vector<Breakdown>& runs)
{
    RankComparison result;
    std::vector<const Breakdown*> ranks;
    for (const Breakdown& run : runs) {
        if (run.origin == Origin::Imported && run.stepNs > 0)
            ranks.push_back(&run);
    }
    if (ranks.size() < 2)
        return result;
    std::stable_sort(ranks.begin(), ranks.end(), [&](const Breakdown* a, const Breakdown* b) {
        return rankOf(trace, a->run) < rankOf(trace, b->run);
    });
    CallCollector collector(trace);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        result.ranks.push_back(rowOf(trace, *ranks[i]));
        collector.add(i, *ranks[i]);
    }
    matchCollectives(collector, result);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const auto steps = static_cast<std::int64_t>(ranks[i]->steps.used.size());
        result.ranks[i].collectivesNs /= steps;
        result.ranks[i].waitingNs /= steps;
    }
    findStragglers(result);
    return result;
}

}  // namespace fp8scope::analysis
