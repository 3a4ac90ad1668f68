// SPDX-License-Identifier: Apache-2.0
// What a foreign file says, before anything is made of it. A reader of a format fills it; assemble() turns it into a
// Trace: ranks, lanes, launches, ops, modules, layers, phases, steps. Nothing here depends on a format.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::import {

/// A kernel, copy, memset or device-side wait. Times in ns from RawEvents::epochWallNs.
struct DeviceEvent {
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
    std::uint32_t track = 0;        ///< into RawEvents::tracks
    NameId name;                    ///< into RawEvents::names
    std::uint64_t correlation = 0;  ///< of the launch, unique within a process only; 0: none. A graph launch shares one
    std::uint64_t externalId = 0;   ///< of the CPU op that launched it; 0: none
    LaunchShapeId launchShape;      ///< into RawEvents::launchShapes; none() where the file does not say
    std::uint32_t arguments = kNoArguments;  ///< a collective's description; into RawEvents::arguments
    std::uint64_t bytes = 0;                 ///< of copies and memsets
    std::uint64_t graphNode = 0;             ///< 0: not launched by a graph, or the file does not say

    static constexpr std::uint32_t kNoArguments = UINT32_MAX;
};

enum class HostKind : std::uint8_t {
    Op,        ///< a framework's operator: "aten::mm", "autograd::engine::evaluate_function: ..."
    Api,       ///< a call of the CUDA (HIP, ...) runtime or driver
    Range,     ///< what the user or a framework marked: NVTX, record_function, "ProfilerStep#3"
    Frame,     ///< a Python function; "nn.Module: Linear_0" among them
    Overhead,  ///< the profiler's own work
};

/// Something that a CPU thread did, or a range (kind Range) on an Annotation track.
struct HostEvent {
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
    std::uint32_t track = 0;
    NameId name;
    HostKind kind = HostKind::Op;
    std::uint64_t correlation = 0;     ///< of an Api call with what it launched; 0: none
    std::uint64_t externalId = 0;      ///< of an Op; 0: none
    std::int64_t sequenceNumber = -1;  ///< autograd's: a forward op and the backward op made by it share it
    std::uint64_t forwardThread = 0;   ///< of a backward op: the thread id of its forward op; 0: it is a forward op
    std::uint32_t arguments = DeviceEvent::kNoArguments;  ///< into RawEvents::arguments
};

/// What an op was called with; equal ones stand once. Text as the file has it, empty where it does not say.
struct Arguments {
    std::string dims;             ///< "[[4096, 4096], [4096, 128]]"
    std::string types;            ///< "[\"c10::Float8_e4m3fn\", ...]"
    std::string strides;          ///< as dims
    std::string concrete;         ///< "Concrete Inputs"
    std::string moduleHierarchy;  ///< "Model.layers.0.mlp.up"
    std::string collective;       ///< "Collective name", e.g. "allreduce"; then group, dtype and sizes follow
    std::string group;            ///< "Process Group Name"
    std::string groupRanks;
    std::int64_t groupSize = 0, messageElements = 0;
    std::int64_t sequence = -1;  ///< "Seq" of a collective
    friend bool operator==(const Arguments&, const Arguments&) = default;
};

/// A flow arrow between two points, used where correlation is missing: launch to device, forward to backward.
struct Flow {
    enum class Kind : std::uint8_t { Launch, ForwardBackward };
    Kind kind = Kind::Launch;
    std::uint64_t id = 0;  ///< key: (process, kind, id)
    bool begins = false;   ///< the arrow's tail
    std::uint32_t track = 0;
    std::int64_t timeNs = 0;
};

/// Track::run is set by assemble(). Kinds: DeviceQueue holds kernels, copies and memsets only ("GPU 0 stream 7"); what
/// a host waits for, drawn by profilers on a device's row, and ranges projected onto a device are on tracks of their
/// own of kind Annotation with that device ("GPU 0 stream 7 waits", "GPU 0 stream 7 ranges"), so that no wait counts as
/// work. `thread` is the OS thread of a CPU track, the stream of a device's.
struct RawTrack {
    Track track;
    std::uint64_t thread = 0;
};

struct RawEvents {
    std::string source;              ///< file name, for errors and Run::mode
    std::string producer;            ///< "PyTorch profiler", "Nsight Systems 2025.5.2", ...; becomes Run::tool
    std::int64_t epochWallNs = 0;    ///< Unix time of time 0; 0 where the file does not tell
    std::vector<Process> processes;  ///< rank as the file says it; -1 otherwise
    std::vector<Device> devices;
    std::vector<RawTrack> tracks;
    std::vector<Name> names;  ///< text and kind only; roles are the classifier's work
    std::vector<LaunchShape> launchShapes;
    std::vector<Arguments> arguments;
    std::vector<DeviceEvent> device;  ///< in file order
    std::vector<HostEvent> host;      ///< in file order
    std::vector<Flow> flows;
    std::vector<Sample> samples;          ///< Sample::track into `tracks`
    std::vector<Diagnostic> diagnostics;  ///< what was not understood, by name and count; Diagnostic::run none()
    std::map<std::string, std::string> meta;
};

}  // namespace fp8scope::import
