// SPDX-License-Identifier: Apache-2.0
// From raw events to a trace: runs, what launched what, what belongs to which op, layer and step, and the slices.
#include "collector/import/assemble.h"

#include "collector/import/attribution.h"
#include "collector/import/host_nesting.h"
#include "collector/import/launch_links.h"
#include "collector/import/marked_steps.h"
#include "collector/import/name_hints.h"
#include "collector/import/ranks.h"
#include "collector/import/slice_columns.h"
#include "collector/import/trace_op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace fp8scope::import {
namespace {

/// "rank 3"; of a single run, the file's name without its endings.
std::string modeOf(const RawEvents& raw, const Process& process, std::size_t runCount)
{
    if (runCount == 1)
        return runNameOf(std::filesystem::path(raw.source).filename().string());
    return process.rank >= 0 ? fmt::format("rank {}", process.rank) : fmt::format("process {}", process.pid);
}

/// A run for each process with device work, in the order of ranks; one run where no process has any. Processes without
/// device work (a launcher, data loaders) go with the first run.
std::vector<RunId> makeRuns(const RawEvents& raw, Trace& trace)
{
    std::vector<bool> hasDeviceWork(raw.processes.size());
    for (const DeviceEvent& event : raw.device)
        hasDeviceWork[raw.tracks[event.track].track.process.value] = true;
    std::vector<std::uint32_t> ranked;
    for (std::uint32_t p = 0; p < raw.processes.size(); ++p) {
        if (hasDeviceWork[p])
            ranked.push_back(p);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return raw.processes[a].rank < raw.processes[b].rank; });
    std::vector<RunId> runOfProcess(raw.processes.size(), RunId(0));
    const std::size_t count = std::max<std::size_t>(ranked.size(), 1);
    for (std::uint32_t r = 0; r < count; ++r) {
        const std::uint32_t process = ranked.empty() ? 0 : ranked[r];
        if (!ranked.empty())
            runOfProcess[process] = RunId(r);
        Run run;
        run.mode = modeOf(raw, raw.processes.empty() ? Process{} : raw.processes[process], count);
        run.origin = Origin::Imported;
        run.tool = raw.producer;
        run.complete = true;
        trace.runs.push_back(std::move(run));
    }
    return runOfProcess;
}

std::vector<RunId> makeTracks(const RawEvents& raw, const std::vector<RunId>& runOfProcess, Trace& trace)
{
    std::vector<RunId> runOfTrack;
    trace.tracks.reserve(raw.tracks.size());
    for (const RawTrack& track : raw.tracks) {
        trace.tracks.push_back(track.track);
        const ProcessId process = track.track.process;
        trace.tracks.back().run = process.valid() ? runOfProcess[process.value] : RunId(0);
        runOfTrack.push_back(trace.tracks.back().run);
    }
    return runOfTrack;
}

void setExtents(Trace& trace)
{
    struct Extent {
        std::int64_t startNs = INT64_MAX, endNs = INT64_MIN;
    };
    std::vector<Extent> extents(trace.runs.size());
    for (const Track& track : trace.tracks) {
        Extent& extent = extents[track.run.value];
        for (std::size_t i = 0; i < track.slices.size(); ++i) {
            extent.startNs = std::min(extent.startNs, track.slices.startNs[i]);
            extent.endNs = std::max(extent.endNs, track.slices.endNs(i));
        }
    }
    for (std::size_t r = 0; r < extents.size(); ++r) {
        if (extents[r].startNs > extents[r].endNs)
            continue;
        trace.runs[r].startNs = extents[r].startNs;
        trace.runs[r].endNs = extents[r].endNs;
    }
}

/// Ops, layers and steps; gives the op of each device event.
std::vector<OpId> makeOps(const RawEvents& raw, const std::vector<RunId>& runOfTrack, Trace& trace)
{
    const std::vector<NameHint> hints = hintsOf(raw.names);
    const HostNesting nesting(raw, hints);
    LaunchLinks links = linkLaunches(raw, nesting);
    TraceOpTable table(raw, nesting.modules());
    std::vector<OpId> ops = attribute(raw, nesting, links, runOfTrack, table);
    table.finish(trace);
    markSteps(raw, hints, links, runOfTrack, trace);
    std::move(links.diagnostics.begin(), links.diagnostics.end(), std::back_inserter(trace.diagnostics));
    return ops;
}

template <typename T>
void release(std::vector<T>& events)
{
    std::vector<T>().swap(events);
}

}  // namespace

Trace assemble(RawEvents raw)
{
    Trace trace;
    if (raw.processes.empty())
        raw.processes.emplace_back();
    const std::vector<RunId> runOfProcess = makeRuns(raw, trace);
    const std::vector<RunId> runOfTrack = makeTracks(raw, runOfProcess, trace);
    trace.diagnostics = std::move(raw.diagnostics);
    const std::vector<OpId> ops = makeOps(raw, runOfTrack, trace);
    release(raw.flows);
    fillDeviceTracks(raw.device, ops, trace.tracks);
    release(raw.device);
    fillHostTracks(raw.host, trace.tracks);
    release(raw.host);
    finishTracks(trace);
    trace.meta = std::move(raw.meta);
    trace.processes = std::move(raw.processes);
    trace.devices = std::move(raw.devices);
    trace.names = std::move(raw.names);
    trace.launchShapes = std::move(raw.launchShapes);
    trace.samples = std::move(raw.samples);
    setExtents(trace);
    return trace;
}

}  // namespace fp8scope::import
