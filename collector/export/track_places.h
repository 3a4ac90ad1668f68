// SPDX-License-Identifier: Apache-2.0
// The numbers that other formats know tracks by: process ids, thread ids, streams. A trace has names, and several runs
// or hosts may share numbers, which a file of one process cannot.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <vector>

namespace fp8scope::exporter {

struct TrackPlace {
    std::uint32_t pid = 0;  ///< of the process; unique among the trace's processes
    std::uint64_t row = 0;  ///< thread id or stream; unique within the process, on a device within the device
};

struct TracePlaces {
    std::vector<TrackPlace> tracks;        ///< by TrackId
    std::vector<std::uint32_t> devicePid;  ///< by DeviceId: a number that no process has, the device's own if it can be
};

[[nodiscard]] TracePlaces placeTracks(const Trace&);

/// Work of a device or a wait for it, and not what a CPU thread did. Waits stand on tracks of their own.
[[nodiscard]] inline bool isDeviceWork(const Track& track, const Name& name)
{
    return track.kind == TrackKind::DeviceQueue || (name.kind == NameKind::Sync && track.device.valid());
}

/// Positions of a track's slices in rows without partial overlap: within a row a slice lies inside another or outside
/// of it, which viewers need. Row 0 for all but stray ones. Device queues keep their own lanes.
[[nodiscard]] std::vector<std::uint8_t> nestedRows(const Track&);

}  // namespace fp8scope::exporter
