// SPDX-License-Identifier: Apache-2.0
#include "collector/inject/track_table.h"

#include <fstream>

namespace fp8scope::inject {

namespace {

/// "python", from the kernel; empty once the thread is gone.
std::string threadName(std::uint32_t thread)
{
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

}  // namespace

std::size_t TrackTable::KeyHash::operator()(const Key& key) const
{
    std::uint64_t mixed = static_cast<std::uint64_t>(key.row);
    for (const std::uint32_t part : {key.a, key.b, key.c})
        mixed = (mixed ^ part) * 0x9e3779b97f4a7c15ULL;
    return mixed ^ (mixed >> 32);
}

wire::LocalDevice TrackTable::device(std::uint32_t index)
{
    const auto found = m_devices.find(index);
    if (found != m_devices.end())
        return found->second;
    const auto facts = m_facts.find(index);
    wire::Device row{.name = "GPU " + std::to_string(index), .kind = "gpu", .arch = {}};
    if (facts != m_facts.end()) {
        row.name = facts->second.name;
        row.arch = facts->second.arch;
        row.units = facts->second.multiprocessors;
        row.memoryBytes = facts->second.memoryBytes;
        row.peakBandwidth = facts->second.bandwidth;
        row.hasFp8 = facts->second.hasFp8;
    }
    return m_devices[index] = m_encoder.append(row);
}

wire::Track TrackTable::describe(const Key& key)
{
    const std::string a = std::to_string(key.a);
    const std::string named = key.row == Row::Thread || key.row == Row::Ranges ? threadName(key.a) : std::string();
    const std::string thread = "thread " + a + (named.empty() ? "" : " (" + named + ")");
    switch (key.row) {
    case Row::Queue: {
        const bool first = m_firstContext.try_emplace(key.a, key.b).first->second == key.b;
        const std::string context = first ? std::string() : " context " + std::to_string(key.b);
        return {.kind = TrackKind::DeviceQueue,
                .name = "GPU " + a + context + " stream " + std::to_string(key.c),
                .device = device(key.a)};
    }
    case Row::Thread: return {.kind = TrackKind::CpuThread, .name = thread, .device = {}};
    case Row::Ranges: return {.kind = TrackKind::Annotation, .name = "NVTX, " + thread, .device = {}};
    case Row::Waits: return {.kind = TrackKind::Annotation, .name = "waits for the GPU, context " + a, .device = {}};
    case Row::Profiler: return {.kind = TrackKind::Annotation, .name = "overhead of CUPTI", .device = {}};
    case Row::Counter:
        return {.kind = TrackKind::Counter, .name = "GPU " + a + " memory allocated (bytes)", .device = device(key.a)};
    }
    return {};
}

TrackTable::OpenTrack& TrackTable::open(const Key& key)
{
    if (m_last != SIZE_MAX && key == m_lastKey)
        return m_tracks[m_last];
    const auto [found, isNew] = m_index.try_emplace(key, m_tracks.size());
    if (isNew)
        m_tracks.push_back({m_encoder.append(describe(key)), {}});
    m_lastKey = key;
    m_last = found->second;
    return m_tracks[m_last];
}

void TrackTable::addToQueue(std::uint32_t device, std::uint32_t context, std::uint32_t stream, const wire::Slice& slice)
{
    open({Row::Queue, device, context, stream}).slices.push_back(slice);
}
void TrackTable::addToThread(std::uint32_t thread, const wire::Slice& slice)
{
    open({Row::Thread, thread}).slices.push_back(slice);
}
void TrackTable::addToRanges(std::uint32_t thread, const wire::Slice& slice)
{
    open({Row::Ranges, thread}).slices.push_back(slice);
}
void TrackTable::addToWaits(std::uint32_t context, const wire::Slice& slice)
{
    open({Row::Waits, context}).slices.push_back(slice);
}
void TrackTable::addToProfiler(const wire::Slice& slice) { open({Row::Profiler}).slices.push_back(slice); }
void TrackTable::addSample(std::uint32_t device, std::int64_t timeNs, double value)
{
    m_encoder.append(wire::Sample{.track = open({Row::Counter, device}).track, .timeNs = timeNs, .value = value});
}

void TrackTable::encodePending()
{
    for (OpenTrack& track : m_tracks) {
        if (!track.slices.empty())
            m_encoder.append(track.track, track.slices);
        track.slices.clear();
    }
}

}  // namespace fp8scope::inject
