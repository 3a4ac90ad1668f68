// SPDX-License-Identifier: Apache-2.0
#include "collector/import/slice_columns.h"

#include <algorithm>
#include <cstdint>

namespace fp8scope::import {
namespace {

/// Rows of each track by start, longer first: the order of slices.
template <typename Event>
std::vector<std::vector<std::uint32_t>> rowsByTrack(std::span<const Event> events, std::size_t trackCount)
{
    std::vector<std::size_t> counts(trackCount);
    for (const Event& event : events)
        ++counts[event.track];
    std::vector<std::vector<std::uint32_t>> rows(trackCount);
    for (std::size_t t = 0; t < trackCount; ++t)
        rows[t].reserve(counts[t]);
    for (std::uint32_t i = 0; i < events.size(); ++i)
        rows[events[i].track].push_back(i);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return events[a].startNs != events[b].startNs ? events[a].startNs < events[b].startNs
                                                      : events[a].durNs > events[b].durNs;
    };
    for (auto& track : rows) {
        if (!std::is_sorted(track.begin(), track.end(), before))
            std::stable_sort(track.begin(), track.end(), before);
    }
    return rows;
}

template <typename Event>
void fillTimes(std::span<const Event> events, const std::vector<std::uint32_t>& rows, SliceColumns& slices)
{
    slices.startNs.resize(rows.size());
    slices.durNs.resize(rows.size());
    slices.name.resize(rows.size());
    slices.op.resize(rows.size());
    slices.correlation.resize(rows.size());
    std::uint64_t anyCorrelation = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Event& event = events[rows[i]];
        slices.startNs[i] = event.startNs;
        slices.durNs[i] = event.durNs;
        slices.name[i] = event.name;
        slices.op[i] = OpId::none();
        slices.correlation[i] = event.correlation;
        anyCorrelation |= event.correlation;
    }
    if (anyCorrelation == 0)
        slices.correlation = {};
}

void fillDeviceDetails(std::span<const DeviceEvent> events, std::span<const OpId> ops,
                       const std::vector<std::uint32_t>& rows, SliceColumns& slices)
{
    slices.launchShape.resize(rows.size());
    slices.bytes.resize(rows.size());
    bool anyShape = false;
    std::uint64_t anyBytes = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const DeviceEvent& event = events[rows[i]];
        slices.op[i] = ops[rows[i]];
        slices.launchShape[i] = event.launchShape;
        slices.bytes[i] = event.bytes;
        anyShape = anyShape || event.launchShape.valid();
        anyBytes |= event.bytes;
    }
    if (!anyShape)
        slices.launchShape = {};
    if (anyBytes == 0)
        slices.bytes = {};
}

}  // namespace

void fillDeviceTracks(std::span<const DeviceEvent> events, std::span<const OpId> ops, std::vector<Track>& tracks)
{
    const auto rows = rowsByTrack(events, tracks.size());
    for (std::size_t t = 0; t < tracks.size(); ++t) {
        if (rows[t].empty())
            continue;
        fillTimes(events, rows[t], tracks[t].slices);
        fillDeviceDetails(events, ops, rows[t], tracks[t].slices);
    }
}

void fillHostTracks(std::span<const HostEvent> events, std::vector<Track>& tracks)
{
    const auto rows = rowsByTrack(events, tracks.size());
    for (std::size_t t = 0; t < tracks.size(); ++t) {
        if (!rows[t].empty())
            fillTimes(events, rows[t], tracks[t].slices);
    }
}

}  // namespace fp8scope::import
