// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/row_model.h"

#include "app/gui/text.h"

#include <QCoreApplication>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fp8scope::gui {
namespace {

constexpr int kHeaderHeight = 22;
constexpr int kStepsHeight = 20;
constexpr int kQueueHeight = 30;
constexpr int kThreadHeight = 20;
constexpr int kLaneHeight = 18;
constexpr int kCounterHeight = 44;

QString tr(const char* text) { return QCoreApplication::translate("RowModel", text); }

std::string runKey(RunId run) { return fmt::format("run:{}", run.value); }

/// Queues of one device, threads and annotations of one process, and counters stand together.
std::string groupKey(const Track& track)
{
    const std::string run = runKey(track.run);
    switch (track.kind) {
    case TrackKind::DeviceQueue: return fmt::format("{}/0:device:{}:{}", run, track.process.value, track.device.value);
    case TrackKind::CpuThread:
    case TrackKind::Annotation: return fmt::format("{}/1:process:{}", run, track.process.value);
    case TrackKind::Counter: return run + "/2:counters";
    }
    return run;
}

QString groupLabel(const Trace& trace, const Track& track)
{
    if (track.kind == TrackKind::Counter)
        return tr("counters");
    const bool known = track.process.valid();
    const Process process = known ? trace.processes[track.process.value] : Process{};
    const QString rank = process.rank >= 0 ? tr("rank %1 · ").arg(process.rank) : QString();
    if (track.kind == TrackKind::DeviceQueue && track.device.valid())
        return rank + toQt(trace.devices[track.device.value].name);
    if (!known)
        return rank + tr("process");
    const QString name = process.name.empty() ? QString() : tr("%1 · ").arg(toQt(process.name));
    return rank + name + tr("process %1").arg(process.pid);
}

bool hasContent(const Trace& trace, TrackId id)
{
    if (trace.track(id).kind != TrackKind::Counter)
        return trace.track(id).slices.size() > 0;
    return std::any_of(trace.samples.begin(), trace.samples.end(), [id](const Sample& s) { return s.track == id; });
}

int laneHeight(TrackKind kind, std::uint32_t lane)
{
    if (kind == TrackKind::Counter)
        return kCounterHeight;
    if (lane > 0 || kind == TrackKind::Annotation)
        return kLaneHeight;
    return kind == TrackKind::DeviceQueue ? kQueueHeight : kThreadHeight;
}

/// What a lane beyond the first holds: on a queue work that ran at the same time, on a thread calls inside calls.
QString laneLabel(TrackKind kind, std::uint32_t lane)
{
    return kind == TrackKind::DeviceQueue ? tr("lane %1 (overlap)").arg(lane + 1) : tr("depth %1").arg(lane + 1);
}

}  // namespace

void RowModel::rebuild(const Trace* trace, const std::function<bool(RunId)>& visible)
{
    m_rows.clear();
    if (trace == nullptr)
        return;
    for (std::uint32_t r = 0; r < trace->runs.size(); ++r) {
        if (visible(RunId(r)))
            addRun(*trace, RunId(r), trace->runs.size() > 1);
    }
}

void RowModel::addRun(const Trace& trace, RunId run, bool severalRuns)
{
    const Run& row = trace.run(run);
    const QString title = row.mode.empty() ? tr("run %1").arg(run.value + 1) : toQt(row.mode);
    if (!addHeader(Row::Kind::RunHeader, run, title + QStringLiteral(" · ") + originText(row.origin), runKey(run), 0))
        return;
    if (std::any_of(trace.steps.begin(), trace.steps.end(), [run](const Step& s) { return s.run == run; }))
        add({.kind = Row::Kind::Steps, .run = run, .label = tr("steps"), .depth = 1, .height = kStepsHeight});

    std::map<std::string, std::vector<TrackId>> groups;
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        if (trace.tracks[t].run == run && hasContent(trace, TrackId(t)))
            groups[groupKey(trace.tracks[t])].push_back(TrackId(t));
    }
    // A lone group needs no header of its own below its run's.
    const bool headers = groups.size() > 1 || !severalRuns;
    for (const auto& [key, tracks] : groups) {
        const QString label = groupLabel(trace, trace.track(tracks.front()));
        if (headers && !addHeader(Row::Kind::GroupHeader, run, label, key, 1))
            continue;
        for (const TrackId track : tracks)
            addTrack(trace, track, headers ? 2 : 1);
    }
}

void RowModel::addTrack(const Trace& trace, TrackId id, int depth)
{
    const Track& track = trace.track(id);
    const bool counter = track.kind == TrackKind::Counter;
    const std::uint32_t lanes = counter ? 1 : track.laneCount;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        add({.kind = counter ? Row::Kind::Counter : Row::Kind::Lane,
             .run = track.run,
             .track = id,
             .lane = lane,
             .label = lane == 0 ? toQt(track.name) : laneLabel(track.kind, lane),
             .depth = lane == 0 ? depth : depth + 1,
             .height = laneHeight(track.kind, lane)});
    }
}

bool RowModel::addHeader(Row::Kind kind, RunId run, const QString& label, const std::string& key, int depth)
{
    const bool collapsed = m_collapsed.contains(key);
    add({.kind = kind,
         .run = run,
         .label = label,
         .key = key,
         .collapsed = collapsed,
         .depth = depth,
         .height = kHeaderHeight});
    return !collapsed;
}

void RowModel::add(Row row)
{
    row.y = height();
    m_rows.push_back(std::move(row));
}

void RowModel::setCollapsed(const std::string& key, bool collapsed)
{
    if (collapsed)
        m_collapsed.insert(key);
    else
        m_collapsed.erase(key);
}

void RowModel::unfold(const Trace& trace, TrackId track)
{
    m_collapsed.erase(runKey(trace.track(track).run));
    m_collapsed.erase(groupKey(trace.track(track)));
}

std::size_t RowModel::firstRowBelow(int y) const
{
    const auto row = std::partition_point(m_rows.begin(), m_rows.end(), [y](const Row& r) { return r.bottom() <= y; });
    return static_cast<std::size_t>(row - m_rows.begin());
}

std::optional<std::size_t> RowModel::rowAt(int y) const
{
    const std::size_t row = firstRowBelow(y);
    return y >= 0 && row < m_rows.size() ? std::optional(row) : std::nullopt;
}

std::optional<std::size_t> RowModel::rowOf(TrackId track, std::uint32_t lane) const
{
    const auto row =
        std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& r) { return r.track == track && r.lane == lane; });
    return row != m_rows.end() ? std::optional(static_cast<std::size_t>(row - m_rows.begin())) : std::nullopt;
}

RunExtent runExtent(const Trace& trace, RunId run)
{
    RunExtent extent{trace.run(run).startNs, trace.run(run).endNs};
    for (const Track& track : trace.tracks) {
        if (track.run == run && track.kind == TrackKind::DeviceQueue && track.slices.size() > 0)
            extent.endNs = std::max(extent.endNs, track.slices.endNs(track.slices.size() - 1));
    }
    return extent;
}

std::uint32_t laneOf(const Trace& trace, SliceRef slice)
{
    const auto& lanes = trace.track(slice.track).slices.lane;
    return lanes.empty() ? 0 : lanes[slice.index];
}

}  // namespace fp8scope::gui
