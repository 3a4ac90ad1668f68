// SPDX-License-Identifier: Apache-2.0
#include "collector/import/marked_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace fp8scope::import {
namespace {

struct Mark {
    std::uint32_t number = UINT32_MAX;    ///< as the file counts; UINT32_MAX where it does not
    std::int64_t startNs = 0, endNs = 0;  ///< of the CPU thread
    std::int64_t deviceStartNs = INT64_MAX, deviceEndNs = INT64_MIN;  ///< of what was launched in it
    [[nodiscard]] bool hasDeviceWork() const { return deviceStartNs < deviceEndNs; }
};

std::string describe(StepMark mark, std::size_t count)
{
    switch (mark) {
    case StepMark::ProfilerStep: return fmt::format("{} steps by ProfilerStep# marks, certain", count);
    case StepMark::Iteration: return fmt::format("{} steps by numbered ranges, certain", count);
    case StepMark::EngineExecute: return fmt::format("{} steps by the serving engine's execute marks, certain", count);
    case StepMark::TrainStep: return fmt::format("{} steps by unnumbered step ranges, likely", count);
    case StepMark::OptimizerStep: return fmt::format("{} steps between the ends of optimizer steps, likely", count);
    case StepMark::None: break;
    }
    return {};
}

/// One mark seen on two threads: most of the shorter one lies in the other.
bool isSame(const Mark& earlier, const Mark& later)
{
    const std::int64_t common = std::min(earlier.endNs, later.endNs) - later.startNs;
    const std::int64_t shorter = std::min(earlier.endNs - earlier.startNs, later.endNs - later.startNs);
    return common * 2 > shorter;
}

/// Marks of one kind by start; of those that are the same only the longest. Numbers that do not grow are not the run's:
/// then places count.
std::vector<Mark> inOrder(std::vector<Mark> marks)
{
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
        return a.startNs != b.startNs ? a.startNs < b.startNs : a.endNs > b.endNs;
    });
    std::vector<Mark> kept;
    for (const Mark& mark : marks) {
        if (kept.empty() || !isSame(kept.back(), mark))
            kept.push_back(mark);
        else if (mark.endNs - mark.startNs > kept.back().endNs - kept.back().startNs)
            kept.back() = mark;
    }
    const auto notGrowing = [](const Mark& a, const Mark& b) { return a.number >= b.number; };
    if (std::adjacent_find(kept.begin(), kept.end(), notGrowing) != kept.end() ||
        (!kept.empty() && kept.back().number == UINT32_MAX)) {
        for (std::size_t i = 0; i < kept.size(); ++i)
            kept[i].number = static_cast<std::uint32_t>(i);
    }
    return kept;
}

/// What lies between the ends of two optimizer steps; what was before the first one is of no whole step.
std::vector<Mark> betweenEnds(const std::vector<Mark>& optimizerSteps)
{
    std::vector<Mark> steps;
    for (std::size_t i = 1; i < optimizerSteps.size(); ++i)
        steps.push_back({static_cast<std::uint32_t>(i - 1), optimizerSteps[i - 1].endNs, optimizerSteps[i].endNs});
    return steps;
}

class RunSteps {
public:
    RunSteps(const RawEvents& raw, const LaunchLinks& links, const std::vector<RunId>& runOfTrack, RunId run)
        : m_raw(raw), m_links(links), m_runOfTrack(runOfTrack), m_run(run)
    {}

    std::vector<Step> measure(std::vector<Mark> marks)
    {
        addDeviceWork(marks);
        std::vector<Step> steps;
        for (std::size_t i = 0; i < marks.size(); ++i) {
            const Mark* next = i + 1 < marks.size() ? &marks[i + 1] : nullptr;
            const auto [startNs, endNs] = extent(marks[i], next, marks.size() == 1);
            if (endNs <= startNs)
                continue;
            steps.push_back(
                {m_run, marks[i].number, startNs, endNs - startNs, false, std::numeric_limits<double>::quiet_NaN()});
        }
        return steps;
    }

private:
    void addDeviceWork(std::vector<Mark>& marks) const
    {
        for (std::size_t i = 0; i < m_raw.device.size(); ++i) {
            const DeviceEvent& event = m_raw.device[i];
            if (m_links.ofDevice[i].launch == kNone || m_runOfTrack[event.track] != m_run)
                continue;
            const std::int64_t launchNs = m_raw.host[m_links.ofDevice[i].launch].startNs;
            const auto after = std::upper_bound(marks.begin(), marks.end(), launchNs,
                                                [](std::int64_t t, const Mark& m) { return t < m.startNs; });
            if (after == marks.begin() || (after == marks.end() && launchNs > marks.back().endNs))
                continue;  // launched before the first step, or after the last
            Mark& mark = *std::prev(after);
            mark.deviceStartNs = std::min(mark.deviceStartNs, event.startNs);
            mark.deviceEndNs = std::max(mark.deviceEndNs, event.startNs + event.durNs);
        }
    }

    static std::pair<std::int64_t, std::int64_t> extent(const Mark& mark, const Mark* next, bool single)
    {
        if (!mark.hasDeviceWork())
            return {mark.startNs, mark.endNs};
        if (single)
            return {std::min(mark.startNs, mark.deviceStartNs), std::max(mark.endNs, mark.deviceEndNs)};
        if (next != nullptr && next->hasDeviceWork() && next->deviceStartNs > mark.deviceStartNs)
            return {mark.deviceStartNs, next->deviceStartNs};
        return {mark.deviceStartNs, std::max(mark.deviceEndNs, mark.deviceStartNs + mark.endNs - mark.startNs)};
    }

    const RawEvents& m_raw;
    const LaunchLinks& m_links;
    const std::vector<RunId>& m_runOfTrack;
    RunId m_run;
};

}  // namespace

void markSteps(const RawEvents& raw, const std::vector<NameHint>& hints, const LaunchLinks& links,
               const std::vector<RunId>& runOfTrack, Trace& trace)
{
    std::map<std::pair<RunId, StepMark>, std::vector<Mark>> found;
    for (const HostEvent& event : raw.host) {
        const NameHint& hint = hints[event.name.value];
        const bool mayMark = event.kind == HostKind::Range || (event.kind == HostKind::Op && hint.isMark);
        const bool isMark = mayMark && hint.step != StepMark::None && event.durNs > 0;
        if (isMark && !raw.tracks[event.track].track.device.valid())
            found[{runOfTrack[event.track], hint.step}].push_back(
                {hint.stepNumber, event.startNs, event.startNs + event.durNs});
    }
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        for (int m = 0; m < static_cast<int>(StepMark::None); ++m) {
            const auto marks = found.find({RunId(r), static_cast<StepMark>(m)});
            if (marks == found.end())
                continue;
            std::vector<Mark> steps = inOrder(std::move(marks->second));
            if (marks->first.second == StepMark::OptimizerStep)
                steps = betweenEnds(steps);
            std::vector<Step> measured = RunSteps(raw, links, runOfTrack, RunId(r)).measure(std::move(steps));
            if (measured.empty())
                continue;
            trace.diagnostics.push_back(
                {RunId(r), "steps", Severity::Info, measured.size(), describe(marks->first.second, measured.size())});
            trace.steps.insert(trace.steps.end(), measured.begin(), measured.end());
            break;
        }
    }
}

}  // namespace fp8scope::import
