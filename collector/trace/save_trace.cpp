// SPDX-License-Identifier: Apache-2.0
// Writes a whole in-memory trace through the writer.
#include "collector/trace/trace_writer.h"

#include <algorithm>
#include <vector>

namespace fp8scope {
namespace {

/// Ids that the writer gave to the trace's rows: equal names become one.
struct WrittenIds {
    std::vector<NameId> names;
    std::vector<LaunchShapeId> launchShapes;
};

WrittenIds saveTables(const Trace& trace, TraceWriter& writer)
{
    for (const auto& [key, value] : trace.meta)
        writer.setMeta(key, value);
    for (const Run& run : trace.runs)
        (void)writer.addRun(run);
    for (const Process& process : trace.processes)
        (void)writer.addProcess(process);
    for (const Device& device : trace.devices)
        (void)writer.addDevice(device);
    for (const Layer& layer : trace.layers)
        (void)writer.addLayer(layer);
    for (const TraceOp& op : trace.ops)
        (void)writer.addOp(op);
    for (const Track& track : trace.tracks)
        (void)writer.addTrack(track);
    WrittenIds ids;
    for (const Name& name : trace.names)
        ids.names.push_back(writer.addName(name));
    for (const LaunchShape& shape : trace.launchShapes)
        ids.launchShapes.push_back(writer.addLaunchShape(shape));
    for (const Step& step : trace.steps)
        writer.addStep(step);
    for (const TensorStat& stat : trace.tensorStats)
        writer.addTensorStat(stat);
    for (const ExponentHistogram& histogram : trace.histograms)
        writer.addExponentHistogram(histogram);
    for (const StepValue& value : trace.stepValues)
        writer.addStepValue(value);
    for (const TensorError& error : trace.tensorErrors)
        writer.addTensorError(error);
    for (const MemoryClass& memory : trace.memory)
        writer.addMemoryClass(memory);
    for (const Sample& sample : trace.samples)
        writer.addSample(sample);
    for (const Diagnostic& diagnostic : trace.diagnostics)
        writer.addDiagnostic(diagnostic);
    return ids;
}

void saveSlices(const SliceColumns& s, TrackId track, const WrittenIds& ids, TraceWriter& writer)
{
    constexpr std::size_t kChunk = 4096;
    std::vector<SliceRecord> chunk;
    chunk.reserve(kChunk);
    for (std::size_t i = 0; i < s.size(); ++i) {
        SliceRecord record{s.startNs[i], s.durNs[i], ids.names[s.name[i].value], s.op[i]};
        if (!s.correlation.empty())
            record.correlation = s.correlation[i];
        if (!s.launchShape.empty() && s.launchShape[i].valid())
            record.launchShape = ids.launchShapes[s.launchShape[i].value];
        if (!s.bytes.empty())
            record.bytes = s.bytes[i];
        chunk.push_back(record);
        if (chunk.size() == kChunk || i + 1 == s.size()) {
            writer.addSlices(track, chunk);
            chunk.clear();
        }
    }
}

}  // namespace

void saveTrace(const Trace& trace, const std::filesystem::path& path, TraceWriter::IfExists ifExists)
{
    TraceWriter writer(path, ifExists);
    const WrittenIds ids = saveTables(trace, writer);
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t)
        saveSlices(trace.tracks[t].slices, TrackId(t), ids, writer);
    if (trace.complete)
        writer.close();
    else
        writer.flush();
}

}  // namespace fp8scope
