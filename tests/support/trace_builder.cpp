// SPDX-License-Identifier: Apache-2.0
#include "tests/support/trace_builder.h"

#include <algorithm>
#include <cassert>

namespace fp8scope::test {
namespace {

template <typename Tag, typename Row>
Id<Tag> append(std::vector<Row>& rows, Row row)
{
    rows.push_back(std::move(row));
    return Id<Tag>(static_cast<std::uint32_t>(rows.size() - 1));
}

}  // namespace

RunId TraceBuilder::currentRun() const
{
    assert(!m_trace.runs.empty() && "call run() first");
    return RunId(static_cast<std::uint32_t>(m_trace.runs.size() - 1));
}

TraceBuilder& TraceBuilder::run(std::string_view mode, Origin origin)
{
    Run row;
    row.mode = mode;
    row.origin = origin;
    row.tool = "TraceBuilder";
    row.complete = true;
    m_trace.runs.push_back(std::move(row));
    return *this;
}

TraceBuilder& TraceBuilder::device(const Device& device)
{
    m_trace.devices.push_back(device);
    return *this;
}

TraceBuilder& TraceBuilder::layer(std::string_view name, std::int64_t in, std::int64_t out, std::string_view precision,
                                  std::string_view reason)
{
    const RunId run = currentRun();
    const auto sameRun =
        std::count_if(m_trace.layers.begin(), m_trace.layers.end(), [&](const Layer& l) { return l.run == run; });
    m_trace.layers.push_back(Layer{run, static_cast<std::uint32_t>(sameRun), std::string(name), in, out,
                                   std::string(precision), std::string(reason)});
    return *this;
}

TraceBuilder& TraceBuilder::track(std::string_view name, TrackKind kind)
{
    Track track;
    track.run = currentRun();
    if (m_trace.processes.empty())
        m_trace.processes.push_back(Process{1, "test", "localhost", -1});
    track.process = ProcessId(static_cast<std::uint32_t>(m_trace.processes.size() - 1));
    if (kind == TrackKind::DeviceQueue) {
        if (m_trace.devices.empty())
            m_trace.devices.push_back(Device{.name = "test GPU", .kind = "gpu", .hasFp8 = true});
        track.device = DeviceId(static_cast<std::uint32_t>(m_trace.devices.size() - 1));
    }
    track.kind = kind;
    track.name = name;
    m_trace.tracks.push_back(std::move(track));
    return *this;
}

NameId TraceBuilder::intern(const Name& name)
{
    const auto found = std::find_if(m_trace.names.begin(), m_trace.names.end(), [&](const Name& n) {
        return n.text == name.text && n.kind == name.kind && n.role == name.role && n.precision == name.precision;
    });
    if (found != m_trace.names.end())
        return NameId(static_cast<std::uint32_t>(found - m_trace.names.begin()));
    return append<struct NameTag>(m_trace.names, name);
}

TraceBuilder& TraceBuilder::slice(std::int64_t startNs, std::int64_t durNs, std::string_view name, Role role,
                                  Precision precision)
{
    assert(!m_trace.tracks.empty() && "call track() first");
    SliceColumns& s = m_trace.tracks.back().slices;
    s.startNs.push_back(startNs);
    s.durNs.push_back(durNs);
    s.name.push_back(intern(Name{.text = std::string(name), .role = role, .precision = precision}));
    s.op.push_back(OpId::none());
    return *this;
}

TraceBuilder& TraceBuilder::opSlice(std::int64_t startNs, std::int64_t durNs, TraceOp op, Precision precision)
{
    const RunId run = currentRun();
    auto found = std::find_if(m_trace.ops.begin(), m_trace.ops.end(),
                              [&](const TraceOp& o) { return o.run == run && o.name == op.name; });
    const Name name{.text = op.name, .kind = NameKind::Op, .role = op.role, .fused = op.fused, .precision = precision};
    if (found == m_trace.ops.end()) {
        op.run = run;
        op.index = static_cast<std::uint32_t>(
            std::count_if(m_trace.ops.begin(), m_trace.ops.end(), [&](const TraceOp& o) { return o.run == run; }));
        m_trace.ops.push_back(std::move(op));
        found = std::prev(m_trace.ops.end());
    }
    SliceColumns& s = m_trace.tracks.back().slices;
    s.startNs.push_back(startNs);
    s.durNs.push_back(durNs);
    s.name.push_back(intern(name));
    s.op.push_back(OpId(static_cast<std::uint32_t>(found - m_trace.ops.begin())));
    return *this;
}

TraceBuilder& TraceBuilder::step(std::uint32_t index, std::int64_t startNs, std::int64_t durNs, double loss,
                                 bool warmup)
{
    m_trace.steps.push_back(Step{currentRun(), index, startNs, durNs, warmup, loss});
    return *this;
}

TraceBuilder& TraceBuilder::config(std::string_view toml)
{
    m_trace.runs.back().configToml = toml;
    return *this;
}

TraceBuilder& TraceBuilder::stat(TensorStat stat)
{
    stat.run = currentRun();
    m_trace.tensorStats.push_back(std::move(stat));
    return *this;
}

TraceBuilder& TraceBuilder::sample(std::int64_t timeNs, double value)
{
    m_trace.samples.push_back(Sample{TrackId(static_cast<std::uint32_t>(m_trace.tracks.size() - 1)), timeNs, value});
    return *this;
}

TraceBuilder& TraceBuilder::diagnostic(std::string_view name, Severity severity, std::uint64_t count,
                                       std::string_view text)
{
    const RunId run = m_trace.runs.empty() ? RunId::none() : currentRun();
    m_trace.diagnostics.push_back(Diagnostic{run, std::string(name), severity, count, std::string(text)});
    return *this;
}

Trace TraceBuilder::build() const
{
    Trace trace = m_trace;
    finishTracks(trace);
    for (std::uint32_t r = 0; r < trace.runs.size(); ++r) {
        std::int64_t start = INT64_MAX;
        std::int64_t end = INT64_MIN;
        for (const Track& track : trace.tracks) {
            for (std::size_t i = 0; track.run == RunId(r) && i < track.slices.size(); ++i) {
                start = std::min(start, track.slices.startNs[i]);
                end = std::max(end, track.slices.endNs(i));
            }
        }
        for (const Step& step : trace.steps) {
            if (step.run == RunId(r)) {
                start = std::min(start, step.startNs);
                end = std::max(end, step.startNs + step.durNs);
            }
        }
        if (start <= end) {
            trace.runs[r].startNs = start;
            trace.runs[r].endNs = end;
        }
    }
    return trace;
}

LayerId TraceBuilder::layerId(std::string_view name) const
{
    for (std::size_t i = m_trace.layers.size(); i-- > 0;) {
        if (m_trace.layers[i].name == name && m_trace.layers[i].run == currentRun())
            return LayerId(static_cast<std::uint32_t>(i));
    }
    assert(false && "no such layer");
    return LayerId::none();
}

}  // namespace fp8scope::test
