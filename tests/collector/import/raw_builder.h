// SPDX-License-Identifier: Apache-2.0
// Raw events written in a test as a reader would give them.
#pragma once

#include "collector/import/raw_events.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace fp8scope::import::test {

/// Times in ns. Tracks are made on first use; every call gives the event that it made.
class RawBuilder {
public:
    RawBuilder()
    {
        raw.source = "trace.json";
        raw.producer = "test";
        raw.processes.push_back({.pid = 100});
        raw.devices.push_back({.name = "GPU", .kind = "gpu"});
    }

    DeviceEvent& kernel(std::int64_t start, std::int64_t dur, std::string_view text, std::uint64_t correlation = 0,
                        std::uint64_t stream = 7)
    {
        const std::uint32_t on = track(TrackKind::DeviceQueue, stream);
        raw.device.push_back({.startNs = start,
                              .durNs = dur,
                              .track = on,
                              .name = name(text, NameKind::Kernel),
                              .correlation = correlation});
        return raw.device.back();
    }

    HostEvent& host(HostKind kind, std::int64_t start, std::int64_t dur, std::string_view text)
    {
        const std::uint32_t on = track(TrackKind::CpuThread, thread);
        const NameKind nameKind = kind == HostKind::Api  ? NameKind::Api
                                  : kind == HostKind::Op ? NameKind::Op
                                                         : NameKind::Range;
        raw.host.push_back({.startNs = start, .durNs = dur, .track = on, .name = name(text, nameKind), .kind = kind});
        return raw.host.back();
    }
    HostEvent& op(std::int64_t start, std::int64_t dur, std::string_view text, std::string_view dims = {},
                  std::string_view types = {})
    {
        HostEvent& event = host(HostKind::Op, start, dur, text);
        if (!dims.empty()) {
            event.arguments = static_cast<std::uint32_t>(raw.arguments.size());
            raw.arguments.push_back({.dims = std::string(dims), .types = std::string(types)});
        }
        return event;
    }
    HostEvent& launch(std::int64_t start, std::uint64_t correlation)
    {
        HostEvent& event = host(HostKind::Api, start, 1, "cudaLaunchKernel");
        event.correlation = correlation;
        return event;
    }
    HostEvent& range(std::int64_t start, std::int64_t dur, std::string_view text)
    {
        return host(HostKind::Range, start, dur, text);
    }
    HostEvent& frame(std::int64_t start, std::int64_t dur, std::string_view text)
    {
        return host(HostKind::Frame, start, dur, text);
    }
    void flow(Flow::Kind kind, std::uint64_t id, bool begins, std::uint32_t on, std::int64_t time)
    {
        raw.flows.push_back({kind, id, begins, on, time});
    }

    std::uint32_t track(TrackKind kind, std::uint64_t id)
    {
        const auto same = std::find_if(raw.tracks.begin(), raw.tracks.end(), [&](const RawTrack& t) {
            return t.track.kind == kind && t.thread == id && t.track.process == process;
        });
        if (same != raw.tracks.end())
            return static_cast<std::uint32_t>(same - raw.tracks.begin());
        RawTrack made{.thread = id};
        made.track.kind = kind;
        made.track.process = process;
        if (kind == TrackKind::DeviceQueue)
            made.track.device = DeviceId(0);
        raw.tracks.push_back(std::move(made));
        return static_cast<std::uint32_t>(raw.tracks.size() - 1);
    }

    NameId name(std::string_view text, NameKind kind)
    {
        const auto same = std::find_if(raw.names.begin(), raw.names.end(),
                                       [&](const Name& n) { return n.text == text && n.kind == kind; });
        const auto at = static_cast<std::uint32_t>(same - raw.names.begin());
        if (same == raw.names.end())
            raw.names.push_back({.text = std::string(text), .kind = kind});
        return NameId(at);
    }

    RawEvents raw;
    std::uint64_t thread = 100;  ///< later host events are of this thread
    ProcessId process{0};        ///< and all later events of this process
};

}  // namespace fp8scope::import::test
