// SPDX-License-Identifier: Apache-2.0
#include "collector/export/csv.h"

#include <algorithm>
#include <optional>

namespace fp8scope::exporter {
namespace {

constexpr std::string_view kHeader =
    "run,origin,pid,process,rank,device,track,lane,kind,name,start_ns,dur_ns,step,role,fused,precision,family,library,"
    "phase,layer,op,m,n,k,a_type,b_type,d_type,recipe,epilogue,flops,least_bytes,correlation,bytes,grid,block,cluster,"
    "registers,shared_bytes\n";

std::string field(std::string_view text)
{
    if (text.find_first_of(",\"\n\r") == std::string_view::npos)
        return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"')
            quoted += c;
    }
    return quoted + '"';
}

std::string rolesOf(RoleSet roles)
{
    std::string text;
    for (int r = 0; r < kRoleCount; ++r)
        if (roles.contains(static_cast<Role>(r)))
            text += (text.empty() ? "" : "+") + std::string(toString(static_cast<Role>(r)));
    return text;
}

std::string numberOrEmpty(std::uint64_t number) { return number == 0 ? std::string() : fmt::to_string(number); }

std::string axes(const std::uint32_t (&axis)[3])
{
    return axis[0] == 0 ? std::string() : fmt::format("{}x{}x{}", axis[0], axis[1], axis[2]);
}

class CsvWriter {
public:
    CsvWriter(const Trace& trace, const ExportOptions& options, OutputFile& out)
        : m_trace(trace), m_options(options), m_out(out)
    {
        for (const Name& name : trace.names)
            m_names.push_back(field(name.text));
        for (const TraceOp& op : trace.ops)
            m_ops.push_back(opFields(op));
        for (const LaunchShape& shape : trace.launchShapes)
            m_shapes.push_back(fmt::format("{},{},{},{},{}", axes(shape.grid), axes(shape.block), axes(shape.cluster),
                                           shape.registers, std::uint64_t{shape.staticShared} + shape.dynamicShared));
    }

    void write(const std::vector<bool>& wanted)
    {
        m_out.raw(kHeader);
        for (const Track& track : m_trace.tracks)
            if (wanted[track.run.value])
                writeTrack(track);
    }

private:
    /// The columns from phase to least_bytes.
    std::string opFields(const TraceOp& op) const
    {
        const std::string layer = op.layer.valid() ? m_trace.layer(op.layer).name : std::string();
        const bool sized = op.m != 0 || op.n != 0;
        std::string text = fmt::format("{},{},{},", toString(op.phase), field(layer), field(op.name));
        text += sized ? fmt::format("{},{},{},", op.m, op.n, op.k) : ",,,";
        text += fmt::format("{},{},{},{},{},", field(op.aType), field(op.bType), field(op.dType), field(op.recipe),
                            field(op.epilogue));
        text += op.flops > 0 ? fmt::format("{:.0f},", op.flops) : ",";
        return text + numberOrEmpty(op.bytes);
    }

    std::optional<std::uint32_t> stepAt(RunId run, std::int64_t ns) const
    {
        const auto after = std::upper_bound(
            m_trace.steps.begin(), m_trace.steps.end(), std::pair(run, ns),
            [](const auto& wanted, const Step& step) { return wanted < std::pair(step.run, step.startNs); });
        if (after == m_trace.steps.begin())
            return std::nullopt;
        const Step& step = *(after - 1);
        return step.run == run && ns < step.startNs + step.durNs ? std::optional(step.index) : std::nullopt;
    }

    void writeTrack(const Track& track)
    {
        const Run& run = m_trace.run(track.run);
        const Process process = track.process.valid() ? m_trace.processes[track.process.value] : Process{};
        const std::string device = track.device.valid() ? m_trace.devices[track.device.value].name : std::string();
        const std::string front = fmt::format(
            "{},{},{},{},{},{},{}", field(run.mode), toString(run.origin), process.pid, field(process.name),
            process.rank >= 0 ? fmt::to_string(process.rank) : std::string(), field(device), field(track.name));
        for (std::size_t i = 0; i < track.slices.size(); ++i)
            writeSlice(track, front, i);
    }

    void writeSlice(const Track& track, const std::string& front, std::size_t i)
    {
        const SliceColumns& s = track.slices;
        const Name& name = m_trace.name(s.name[i]);
        const TraceOp* const op = s.op[i].valid() ? &m_trace.op(s.op[i]) : nullptr;
        const WorkKind work = m_options.kindOf(s.op[i], s.name[i]);
        const bool onDevice = track.kind == TrackKind::DeviceQueue;
        const auto step = stepAt(track.run, s.startNs[i]);
        m_out.add("{},{},{},{},{},{},{},", front, s.lane.empty() ? 0U : s.lane[i], toString(name.kind),
                  m_names[s.name[i].value], s.startNs[i], s.durNs[i], step ? fmt::to_string(*step) : std::string());
        // What a CPU thread does has no role of its own.
        m_out.add("{},{},{},{},{},", onDevice ? toString(work.role) : std::string_view(),
                  rolesOf(op != nullptr ? op->fused : name.fused),
                  onDevice ? toString(name.precision) : std::string_view(),
                  onDevice ? toString(work.family) : std::string_view(), field(name.library));
        m_out.add("{},", op != nullptr ? m_ops[s.op[i].value] : kNoOp);
        m_out.add("{},{},{}\n", numberOrEmpty(s.correlation.empty() ? 0 : s.correlation[i]),
                  numberOrEmpty(s.bytes.empty() ? 0 : s.bytes[i]),
                  !s.launchShape.empty() && s.launchShape[i].valid() ? m_shapes[s.launchShape[i].value] : kNoShape);
    }

    const std::string kNoOp = std::string(12, ',');  ///< between 13 empty columns
    const std::string kNoShape = std::string(4, ',');
    const Trace& m_trace;
    const ExportOptions& m_options;
    OutputFile& m_out;
    std::vector<std::string> m_names, m_ops, m_shapes;  ///< written once
};

}  // namespace

void writeCsv(const Trace& trace, const std::vector<bool>& wanted, const ExportOptions& options, OutputFile& out)
{
    CsvWriter(trace, options, out).write(wanted);
}

}  // namespace fp8scope::exporter
