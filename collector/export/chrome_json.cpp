// SPDX-License-Identifier: Apache-2.0
// Chrome's Trace Event Format, spelled as PyTorch's profiler spells it, because its readers know those words: complete
// events in microseconds with three decimals, which hold the nanoseconds exactly, metadata that names rows, and an
// arrow from each launch to its work.
#include "collector/export/chrome_json.h"

#include "collector/export/chrome_arguments.h"
#include "collector/export/json_escape.h"
#include "collector/export/track_places.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace fp8scope::exporter {
namespace {

/// Rows for slices that overlap others of their track: far from real thread ids and streams.
constexpr std::uint64_t kLaneStride = 100'000'000;
/// The row of a run's steps.
constexpr std::uint64_t kStepsRow = 90'000'000;

constexpr std::string_view kStep = "ProfilerStep#";

struct Microseconds {
    std::int64_t ns = 0;
};

std::string_view deviceCategory(NameKind kind)
{
    switch (kind) {
    case NameKind::Memcpy: return "gpu_memcpy";
    case NameKind::Memset: return "gpu_memset";
    case NameKind::Sync: return "cuda_sync";
    default: return "kernel";
    }
}

/// As PyTorch names them: "nn.Module: Linear_0", "model.py(12): forward", "<built-in method mm of ...>".
bool isPythonFrame(std::string_view name)
{
    return name.starts_with("nn.Module: ") || name.starts_with("<built-in ") ||
           name.find(".py(") != std::string_view::npos;
}

std::string_view hostCategory(const Name& name)
{
    switch (name.kind) {
    case NameKind::Api:
        return name.text.starts_with("cu") && !name.text.starts_with("cuda") ? "cuda_driver" : "cuda_runtime";
    case NameKind::Range:
    case NameKind::Step: return isPythonFrame(name.text) ? "python_function" : "user_annotation";
    default: return "cpu_op";
    }
}

/// A number that JSON can hold.
double finite(double value) { return std::isfinite(value) ? value : 0; }

}  // namespace
}  // namespace fp8scope::exporter

template <>
struct fmt::formatter<fp8scope::exporter::Microseconds> : fmt::formatter<std::int64_t> {
    auto format(fp8scope::exporter::Microseconds time, fmt::format_context& context) const
    {
        return fmt::format_to(context.out(), "{}.{:03}", time.ns / 1000, time.ns % 1000);
    }
};

namespace fp8scope::exporter {
namespace {

class ChromeWriter {
public:
    ChromeWriter(const Trace& trace, const std::vector<bool>& wanted, const ExportOptions& options, OutputFile& out)
        : m_trace(trace), m_wanted(wanted), m_options(options), m_out(out), m_places(placeTracks(trace)),
          m_arguments(trace)
    {
        for (const Name& name : trace.names) {
            m_names.push_back(escapedJson(name.text));
            m_hasStepSlices |= name.text.starts_with(kStep);
        }
        for (const Track& track : trace.tracks)
            if (track.slices.size() > 0)
                m_shiftNs = std::min(m_shiftNs, track.slices.startNs.front());
        for (const Step& step : trace.steps)
            m_shiftNs = std::min(m_shiftNs, step.startNs);
        m_severalProcesses = trace.processes.size() > 1;
    }

    void write()
    {
        head();
        for (std::uint32_t p = 0; p < m_trace.processes.size(); ++p)
            if (isUsed(ProcessId(p)))
                nameProcess(ProcessId(p));
        for (std::uint32_t d = 0; d < m_trace.devices.size(); ++d)
            nameDevice(d);
        collectLaunches();
        for (std::uint32_t t = 0; t < m_trace.tracks.size(); ++t)
            if (wanted(m_trace.tracks[t].run))
                writeTrack(TrackId(t));
        for (std::uint32_t r = 0; r < m_trace.runs.size(); ++r)
            if (m_wanted[r])
                writeSteps(RunId(r));
        for (const Sample& sample : m_trace.samples)
            if (wanted(m_trace.track(sample.track).run))
                writeSample(sample);
        m_out.raw("\n  ]\n}\n");
    }

private:
    bool wanted(RunId run) const { return m_wanted[run.value]; }
    bool isUsed(ProcessId process) const
    {
        return std::any_of(m_trace.tracks.begin(), m_trace.tracks.end(),
                           [&](const Track& t) { return t.process == process && wanted(t.run); });
    }
    /// Time 0 of the file is the trace's, or its first event if that is earlier: no time is negative.
    Microseconds ts(std::int64_t ns) const { return {ns - m_shiftNs}; }
    /// Launches are matched within a process; a file of one process must tell those of several apart.
    std::uint64_t correlation(std::uint64_t id, ProcessId process) const
    {
        return id != 0 && m_severalProcesses && process.valid() ? id + (std::uint64_t{process.value} << 40) : id;
    }

    std::int64_t epochNs() const
    {
        const auto at = m_trace.meta.find("start_wall_ns");
        return (at == m_trace.meta.end() ? 0 : std::strtoll(at->second.c_str(), nullptr, 10)) + m_shiftNs;
    }

    void head()
    {
        m_out.add("{{\n  \"schemaVersion\": 1,\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {},\n",
                  epochNs());
        m_out.add("  \"fp8scope\": {{\"writer\": \"{}\", \"runs\": [", escapedJson(m_options.writer));
        bool first = true;
        for (std::uint32_t r = 0; r < m_trace.runs.size(); ++r) {
            if (!m_wanted[r])
                continue;
            const Run& run = m_trace.runs[r];
            m_out.add("{}{{\"mode\": \"{}\", \"origin\": \"{}\", \"tool\": \"{}\"}}", first ? "" : ", ",
                      escapedJson(run.mode), toString(run.origin), escapedJson(run.tool));
            first = false;
        }
        m_out.add("]}},\n  \"deviceProperties\": [");
        for (std::uint32_t d = 0; d < m_trace.devices.size(); ++d)
            deviceProperties(d);
        m_out.raw("\n  ],\n");
        if (m_trace.processes.size() == 1 && m_trace.processes[0].rank >= 0)
            m_out.add("  \"distributedInfo\": {{\"rank\": {}}},\n", m_trace.processes[0].rank);
        m_out.raw("  \"traceEvents\": [");
    }

    void deviceProperties(std::uint32_t d)
    {
        const Device& device = m_trace.devices[d];
        m_out.add("{}\n    {{\"id\": {}, \"name\": \"{}\", \"totalGlobalMem\": {}, \"numSms\": {}", d == 0 ? "" : ",",
                  m_places.devicePid[d], escapedJson(device.name), device.memoryBytes, device.units);
        // "sm_90", "sm_103": the last digit is the minor version.
        if (device.arch.starts_with("sm_") && device.arch.size() >= 5)
            m_out.add(", \"computeMajor\": {}, \"computeMinor\": {}", device.arch.substr(3, device.arch.size() - 4),
                      device.arch.back());
        m_out.add("}}");
    }

    void beginEvent()
    {
        m_out.raw(m_first ? "\n" : ",\n");
        m_first = false;
    }

    void metadata(std::string_view what, std::uint32_t pid, std::uint64_t tid, std::string_view key,
                  const std::string& value)
    {
        beginEvent();
        m_out.add(
            "  {{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": 0.000, \"args\": {{\"{}\": {}}}}}",
            what, pid, tid, key, value);
    }
    static std::string quoted(std::string_view text) { return "\"" + escapedJson(text) + "\""; }

    void nameProcess(ProcessId id)
    {
        const Process& process = m_trace.processes[id.value];
        const auto track =
            std::find_if(m_trace.tracks.begin(), m_trace.tracks.end(), [&](const Track& t) { return t.process == id; });
        const std::uint32_t pid = m_places.tracks[static_cast<std::size_t>(track - m_trace.tracks.begin())].pid;
        std::string labels = m_trace.run(track->run).mode;
        if (process.rank >= 0 && labels.find("rank") == std::string::npos)
            labels += fmt::format(" rank {}", process.rank);
        metadata("process_name", pid, 0, "name", quoted(process.name));
        metadata("process_labels", pid, 0, "labels", quoted("CPU " + labels));
        metadata("process_sort_index", pid, 0, "sort_index", fmt::to_string(id.value));
    }

    void nameDevice(std::uint32_t d)
    {
        const std::uint32_t pid = m_places.devicePid[d];
        metadata("process_name", pid, 0, "name", quoted(m_trace.devices[d].name));
        metadata("process_labels", pid, 0, "labels", quoted(fmt::format("GPU {}", d)));
        metadata("process_sort_index", pid, 0, "sort_index", fmt::to_string(m_trace.processes.size() + d));
    }

    std::vector<std::uint64_t> correlationsOf(bool onDevice) const
    {
        std::vector<std::uint64_t> ids;
        for (const Track& track : m_trace.tracks) {
            if ((track.kind == TrackKind::DeviceQueue) != onDevice || !wanted(track.run))
                continue;
            for (const std::uint64_t id : track.slices.correlation)
                if (id != 0)
                    ids.push_back(correlation(id, track.process));
        }
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        return ids;
    }
    /// What has a launch and work: viewers warn of arrows without a tail or a head.
    void collectLaunches()
    {
        const std::vector<std::uint64_t> calls = correlationsOf(false);
        const std::vector<std::uint64_t> work = correlationsOf(true);
        std::set_intersection(calls.begin(), calls.end(), work.begin(), work.end(), std::back_inserter(m_launches));
    }

    void writeTrack(TrackId id)
    {
        const Track& track = m_trace.track(id);
        if (track.kind == TrackKind::Counter)
            return;
        const std::vector<std::uint8_t> rows = nestedRows(track);
        const std::uint32_t pid =
            track.device.valid() ? m_places.devicePid[track.device.value] : m_places.tracks[id.value].pid;
        const std::uint64_t row = m_places.tracks[id.value].row;
        const std::uint8_t most = rows.empty() ? std::uint8_t{0} : *std::max_element(rows.begin(), rows.end());
        for (std::uint64_t lane = 0; lane <= most; ++lane) {
            const std::string name = lane == 0 ? track.name : fmt::format("{} (overlap {})", track.name, lane);
            metadata("thread_name", pid, row + lane * kLaneStride, "name", quoted(name));
            metadata("thread_sort_index", pid, row + lane * kLaneStride, "sort_index",
                     fmt::to_string(id.value * 256 + lane));
        }
        for (std::size_t i = 0; i < track.slices.size(); ++i)
            writeSlice(track, i, pid, row + rows[i] * kLaneStride, row);
    }

    void writeSlice(const Track& track, std::size_t i, std::uint32_t pid, std::uint64_t tid, std::uint64_t row)
    {
        const SliceColumns& s = track.slices;
        const Name& name = m_trace.name(s.name[i]);
        const bool onDevice = isDeviceWork(track, name);
        const std::string_view category = onDevice               ? deviceCategory(name.kind)
                                          : track.device.valid() ? "gpu_user_annotation"
                                                                 : hostCategory(name);
        beginEvent();
        m_out.add("  {{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, "
                  "\"dur\": {}, \"args\": {{",
                  category, m_names[s.name[i].value], pid, tid, ts(s.startNs[i]), Microseconds{s.durNs[i]});
        const std::uint64_t id = s.correlation.empty() ? 0 : correlation(s.correlation[i], track.process);
        // The correlation first, 0 for none as in PyTorch's files: what follows begins with a comma.
        m_out.add("\"correlation\": {}", id);
        if (onDevice)
            deviceArguments(track, i, row);
        if (s.op[i].valid())
            m_out.raw(m_arguments.ofOp[s.op[i].value]);
        m_out.add("}}}}");
        if (id != 0)
            flow(onDevice, id, pid, tid, s.startNs[i]);
    }

    void deviceArguments(const Track& track, std::size_t i, std::uint64_t row)
    {
        const SliceColumns& s = track.slices;
        if (track.device.valid())
            m_out.add(", \"device\": {}", m_places.devicePid[track.device.value]);
        m_out.add(", \"stream\": {}", row);
        if (!s.bytes.empty() && s.bytes[i] != 0) {
            m_out.add(", \"bytes\": {}", s.bytes[i]);
            if (s.durNs[i] > 0)  // bytes a nanosecond are gigabytes a second
                m_out.add(", \"memory bandwidth (GB/s)\": {:.3f}",
                          static_cast<double>(s.bytes[i]) / static_cast<double>(s.durNs[i]));
        }
        if (!s.launchShape.empty() && s.launchShape[i].valid())
            m_out.raw(m_arguments.ofShape[s.launchShape[i].value]);
        const WorkKind kind = m_options.kindOf(s.op[i], s.name[i]);
        m_out.add(", \"role\": \"{}\", \"family\": \"{}\"", toString(kind.role), toString(kind.family));
        m_out.raw(m_arguments.ofName[s.name[i].value]);
    }

    void flow(bool onDevice, std::uint64_t id, std::uint32_t pid, std::uint64_t tid, std::int64_t startNs)
    {
        if (!std::binary_search(m_launches.begin(), m_launches.end(), id))
            return;
        beginEvent();
        m_out.add("  {{\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {}, \"cat\": \"ac2g\", \"name\": "
                  "\"ac2g\"{}}}",
                  onDevice ? 'f' : 's', id, pid, tid, ts(startNs), onDevice ? ", \"bp\": \"e\"" : "");
    }

    /// Steps of our own runs are a table; those of PyTorch's traces are slices already.
    void writeSteps(RunId run)
    {
        const auto track = std::find_if(m_trace.tracks.begin(), m_trace.tracks.end(),
                                        [&](const Track& t) { return t.run == run && t.process.valid(); });
        if (m_hasStepSlices || track == m_trace.tracks.end())
            return;
        const std::uint32_t pid = m_places.tracks[static_cast<std::size_t>(track - m_trace.tracks.begin())].pid;
        const std::uint64_t tid = kStepsRow + run.value;
        metadata("thread_name", pid, tid, "name", quoted("steps " + m_trace.run(run).mode));
        for (const Step& step : m_trace.steps) {
            if (step.run != run)
                continue;
            beginEvent();
            m_out.add("  {{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"{}{}\", \"pid\": {}, \"tid\": {}, "
                      "\"ts\": {}, \"dur\": {}, \"args\": {{}}}}",
                      kStep, step.index, pid, tid, ts(step.startNs), Microseconds{step.durNs});
        }
    }

    void writeSample(const Sample& sample)
    {
        const Track& track = m_trace.track(sample.track);
        const std::uint32_t pid =
            track.device.valid() ? m_places.devicePid[track.device.value] : m_places.tracks[sample.track.value].pid;
        beginEvent();
        m_out.add("  {{\"ph\": \"C\", \"name\": {}, \"pid\": {}, \"tid\": 0, \"ts\": {}, \"args\": {{\"value\": {}}}}}",
                  quoted(track.name), pid, ts(sample.timeNs), finite(sample.value));
    }

    const Trace& m_trace;
    const std::vector<bool>& m_wanted;
    const ExportOptions& m_options;
    OutputFile& m_out;
    TracePlaces m_places;
    ChromeArguments m_arguments;
    std::vector<std::string> m_names;       ///< escaped, by NameId
    std::vector<std::uint64_t> m_launches;  ///< sorted
    std::int64_t m_shiftNs = 0;             ///< 0 or less
    bool m_severalProcesses = false;
    bool m_hasStepSlices = false;
    bool m_first = true;
};

}  // namespace

void writeChromeJson(const Trace& trace, const std::vector<bool>& wanted, const ExportOptions& options, OutputFile& out)
{
    ChromeWriter(trace, wanted, options, out).write();
}

}  // namespace fp8scope::exporter
