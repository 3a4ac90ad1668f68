// SPDX-License-Identifier: Apache-2.0
// Raw events as the slices of a trace's tracks.
#pragma once

#include "collector/import/raw_events.h"

#include <span>
#include <vector>

namespace fp8scope::import {

/// Fills the device queues; `ops` has one entry for each event.
void fillDeviceTracks(std::span<const DeviceEvent> events, std::span<const OpId> ops, std::vector<Track>& tracks);
/// Fills CPU threads and annotation rows.
void fillHostTracks(std::span<const HostEvent> events, std::vector<Track>& tracks);

}  // namespace fp8scope::import
