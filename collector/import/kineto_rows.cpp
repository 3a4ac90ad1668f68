// SPDX-License-Identifier: Apache-2.0
// From the rows of a PyTorch trace to processes, devices and named tracks.
#include "collector/import/kineto_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fp8scope::import {
namespace {

bool onDevice(RowUse use)
{
    return use == RowUse::DeviceQueue || use == RowUse::DeviceWaits || use == RowUse::DeviceRanges;
}

TrackKind trackKindOf(RowUse use)
{
    switch (use) {
    case RowUse::DeviceQueue: return TrackKind::DeviceQueue;
    case RowUse::Thread: return TrackKind::CpuThread;
    case RowUse::Counter:
    case RowUse::Changes: return TrackKind::Counter;
    default: return TrackKind::Annotation;
    }
}

std::string trimmed(std::string text)
{
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text;
}

std::string partText(const RowPart& part) { return part.word.empty() ? std::to_string(part.number) : part.word; }

/// "stream 7" of either spelling of a queue's row; what else a writer calls a row stands as it is.
std::string streamText(const Row& row, const std::string& given)
{
    if (!given.empty() && !given.starts_with("stream"))
        return given;
    if (row.stream >= 0)
        return fmt::format("stream {}", row.stream);
    return row.key.tid.word.empty() ? fmt::format("stream {}", row.key.tid.number) : row.key.tid.word;
}

std::uint64_t threadOf(const Row& row)
{
    if (onDevice(row.key.use) && row.stream >= 0)
        return static_cast<std::uint64_t>(row.stream);
    return static_cast<std::uint64_t>(row.key.tid.number);
}

}  // namespace

std::string KinetoMerger::nameOf(RowNameKey::Of of, const RowKey& key) const
{
    const auto name = m_rowNames.find({of, key.pid, of == RowNameKey::Of::Thread ? key.tid : RowPart{}});
    return name == m_rowNames.end() ? std::string() : trimmed(name->second);
}

/// The process that calls the GPU; of a file without calls, the one that does most.
ProcessId KinetoMerger::mainProcess() const
{
    std::vector<std::uint64_t> weight(m_raw.processes.size(), 0);
    for (const HostEvent& event : m_raw.host) {
        const ProcessId process = m_raw.tracks[event.track].track.process;
        if (process.valid() && m_raw.tracks[event.track].track.kind == TrackKind::CpuThread)
            weight[process.value] += event.kind == HostKind::Api ? 1'000'000 : 1;
    }
    const auto most = std::max_element(weight.begin(), weight.end());
    return most == weight.end() ? ProcessId::none() : ProcessId(static_cast<std::uint32_t>(most - weight.begin()));
}

void KinetoMerger::nameRows(const KinetoHead& head)
{
    std::unordered_map<RowKey, std::uint32_t, RowHash> processes;
    for (const Row& row : m_rows) {
        RawTrack& made = m_raw.tracks.emplace_back();
        made.track.kind = trackKindOf(row.key.use);
        made.thread = threadOf(row);
        if (onDevice(row.key.use))
            continue;
        const RowKey key{row.key.pid, {}, RowUse::Thread};
        const auto [place, isNew] = processes.try_emplace(key, static_cast<std::uint32_t>(m_raw.processes.size()));
        if (isNew) {
            const std::int64_t pid = row.key.pid.number;
            std::string name = nameOf(RowNameKey::Of::Process, key);
            if (name.empty())
                name = pid < 0 ? "profiler" : row.key.pid.word;
            m_raw.processes.push_back({.pid = pid > 0 && pid <= UINT32_MAX ? static_cast<std::uint32_t>(pid) : 0,
                                       .name = std::move(name),
                                       .host = head.host,
                                       .rank = head.rank});
        }
        made.track.process = ProcessId(place->second);
        if (trackKindOf(row.key.use) == TrackKind::Counter) {
            made.track.name = row.key.pid.word.empty() ? row.key.tid.word : row.key.pid.word + " " + row.key.tid.word;
            continue;
        }
        made.track.name = nameOf(RowNameKey::Of::Thread, row.key);
        if (made.track.name.empty())
            made.track.name = row.key.tid.word.empty() ? "thread " + partText(row.key.tid) : row.key.tid.word;
    }
}

std::uint32_t KinetoMerger::deviceOf(std::int64_t ordinal, const RowKey& key, const KinetoHead& head)
{
    const auto [place, isNew] = m_deviceIds.try_emplace(ordinal, static_cast<std::uint32_t>(m_raw.devices.size()));
    if (isNew) {
        const auto said = std::find_if(head.devices.begin(), head.devices.end(),
                                       [&](const KinetoHead::NumberedDevice& d) { return d.ordinal == ordinal; });
        Device device{.name = "GPU", .kind = "gpu"};
        if (said != head.devices.end()) {
            device = said->device;
        } else if (!head.devices.empty()) {
            device = head.devices.front().device;  // the writer lists one device and uses another: of one kind, then
        } else if (const std::string label = nameOf(RowNameKey::Of::Labels, key); !label.empty()) {
            device.name = label;
        }
        m_raw.devices.push_back(std::move(device));
    }
    return place->second;
}

/// A device's row belongs to the process that uses the device, which the file does not say: the one that calls it.
void KinetoMerger::placeDevices(const KinetoHead& head)
{
    if (m_raw.processes.empty() && !m_raw.device.empty())
        m_raw.processes.push_back({.name = "", .host = head.host, .rank = head.rank});
    const ProcessId process = mainProcess();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        Row& row = m_rows[i];
        Track& track = m_raw.tracks[i].track;
        if (!onDevice(row.key.use))
            continue;
        const std::int64_t ordinal = row.device >= 0 ? row.device : row.key.pid.number;
        track.process = process;
        track.device = DeviceId(deviceOf(ordinal, row.key, head));
        track.name = fmt::format("GPU {} {}", ordinal, streamText(row, nameOf(RowNameKey::Of::Thread, row.key)));
        if (row.key.use == RowUse::DeviceWaits)
            track.name += " waits";
        if (row.key.use == RowUse::DeviceRanges)
            track.name += " ranges";
    }
}

}  // namespace fp8scope::import
