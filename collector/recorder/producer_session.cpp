// SPDX-License-Identifier: Apache-2.0
#include "collector/recorder/producer_session.h"

#include <algorithm>
#include <variant>

namespace fp8scope::recorder {

namespace {

/// The trace's id of a producer's, none() of none().
template <typename TraceId, typename Tag>
TraceId mapped(const std::vector<TraceId>& ids, Id<Tag> local)
{
    return local.valid() ? ids[local.value] : TraceId::none();
}

}  // namespace

ProducerSession::ProducerSession(TraceSink& sink, const wire::Hello& hello) : m_sink(sink)
{
    m_process =
        sink.writer().addProcess({.pid = hello.pid, .name = hello.processName, .host = hello.host, .rank = hello.rank});
}

void ProducerSession::accept(const wire::Record& record)
{
    std::visit([this](const auto& kind) { on(kind); }, record);
}

void ProducerSession::disconnected(const std::string& reason)
{
    if (m_run != nullptr)
        m_sink.endRun(*m_run, m_lastNs, false, reason + " " + afterStep(m_run->steps));
    m_run = nullptr;
    m_sink.flush();
}

void ProducerSession::on(const wire::RunBegin& begin)
{
    m_lastNs = m_sink.fromStart(begin.startNs);
    m_run = &m_sink.beginRun({.mode = begin.mode,
                              .origin = begin.origin,
                              .configToml = begin.configToml,
                              .planText = begin.planText,
                              .tool = begin.tool,
                              .startNs = m_lastNs});
    m_run->process = m_process;
    m_tracks.clear();
    m_trackKinds.clear();
    m_layers.clear();
    m_ops.clear();
    m_tensors.clear();
}

void ProducerSession::on(const wire::RunEnd& end)
{
    m_sink.endRun(*m_run, m_sink.fromStart(end.endNs), end.complete, end.note);
    m_run = nullptr;
}

void ProducerSession::on(const wire::Device& device)
{
    m_devices.push_back(m_sink.device({.name = device.name,
                                       .kind = device.kind,
                                       .arch = device.arch,
                                       .units = device.units,
                                       .peakFp8 = device.peakFp8,
                                       .peak16 = device.peak16,
                                       .peak32 = device.peak32,
                                       .peakBandwidth = device.peakBandwidth,
                                       .memoryBytes = device.memoryBytes,
                                       .hasFp8 = device.hasFp8}));
}

void ProducerSession::on(const wire::Track& track)
{
    Track row;
    row.run = m_run->id;
    row.process = m_process;
    row.device = mapped(m_devices, track.device);
    row.kind = track.kind;
    row.name = track.name;
    m_tracks.push_back(m_sink.writer().addTrack(row));
    m_trackKinds.push_back(track.kind);
}

void ProducerSession::on(const wire::Name& name)
{
    m_names.push_back(m_sink.writer().addName({.text = name.text,
                                               .kind = name.kind,
                                               .role = name.role,
                                               .fused = name.fused,
                                               .precision = name.precision,
                                               .library = name.library}));
}

void ProducerSession::on(const wire::LaunchShape& shape)
{
    LaunchShape row{
        .registers = shape.registers, .staticShared = shape.staticShared, .dynamicShared = shape.dynamicShared};
    std::ranges::copy(shape.grid, row.grid);
    std::ranges::copy(shape.block, row.block);
    std::ranges::copy(shape.cluster, row.cluster);
    m_shapes.push_back(m_sink.writer().addLaunchShape(row));
}

void ProducerSession::on(const wire::Layer& layer)
{
    m_layers.push_back(m_sink.writer().addLayer({.run = m_run->id,
                                                 .index = layer.index,
                                                 .name = layer.name,
                                                 .inFeatures = layer.inFeatures,
                                                 .outFeatures = layer.outFeatures,
                                                 .precision = layer.precision,
                                                 .reason = layer.reason}));
}

void ProducerSession::on(const wire::Op& op)
{
    m_ops.push_back(m_sink.writer().addOp({.run = m_run->id,
                                           .index = op.index,
                                           .layer = mapped(m_layers, op.layer),
                                           .name = op.name,
                                           .phase = op.phase,
                                           .role = op.role,
                                           .fused = op.fused,
                                           .m = op.m,
                                           .n = op.n,
                                           .k = op.k,
                                           .aType = op.aType,
                                           .bType = op.bType,
                                           .dType = op.dType,
                                           .recipe = op.recipe,
                                           .epilogue = op.epilogue,
                                           .flops = op.flops,
                                           .bytes = op.bytes}));
}

void ProducerSession::on(const wire::SliceBatch& batch)
{
    m_slices.clear();
    m_slices.reserve(batch.slices.size());
    for (const wire::Slice& slice : batch.slices) {
        const std::int64_t startNs = m_sink.fromStart(slice.startNs);
        m_lastNs = std::max(m_lastNs, startNs + slice.durNs);
        m_slices.push_back({.startNs = startNs,
                            .durNs = slice.durNs,
                            .name = mapped(m_names, slice.name),
                            .op = mapped(m_ops, slice.op),
                            .correlation = slice.correlation,
                            .launchShape = mapped(m_shapes, slice.launchShape),
                            .bytes = slice.bytes});
    }
    m_sink.writer().addSlices(mapped(m_tracks, batch.track), m_slices);
    m_run->slices += m_slices.size();
    if (m_trackKinds[batch.track.value] == TrackKind::DeviceQueue)
        m_run->deviceSlices += m_slices.size();
}

void ProducerSession::on(const wire::StepEnd& step)
{
    const std::int64_t startNs = m_sink.fromStart(step.startNs);
    m_lastNs = std::max(m_lastNs, startNs + step.durNs);
    m_sink.addStep(*m_run, {.run = m_run->id,
                            .index = step.index,
                            .startNs = startNs,
                            .durNs = step.durNs,
                            .warmup = step.warmup,
                            .loss = step.loss});
}

void ProducerSession::on(const wire::TensorStat& stat)
{
    const wire::Tensor& tensor = m_tensors[stat.tensor.value];
    m_sink.writer().addTensorStat({.run = m_run->id,
                                   .step = stat.step,
                                   .layer = mapped(m_layers, tensor.layer),
                                   .tensor = tensor.name,
                                   .format = tensor.format,
                                   .amax = stat.amax,
                                   .scale = stat.scale,
                                   .count = stat.count,
                                   .saturated = stat.saturated,
                                   .underflowed = stat.underflowed,
                                   .zeros = stat.zeros,
                                   .sqnrDb = stat.sqnrDb});
}

void ProducerSession::on(const wire::ExponentHistogram& histogram)
{
    const wire::Tensor& tensor = m_tensors[histogram.tensor.value];
    m_sink.writer().addExponentHistogram({.run = m_run->id,
                                          .step = histogram.step,
                                          .layer = mapped(m_layers, tensor.layer),
                                          .tensor = tensor.name,
                                          .format = tensor.format,
                                          .firstExponent = histogram.firstExponent,
                                          .counts = histogram.counts});
}

void ProducerSession::on(const wire::StepValue& value)
{
    m_sink.writer().addStepValue({.run = m_run->id, .step = value.step, .name = value.name, .value = value.value});
}

void ProducerSession::on(const wire::TensorError& error)
{
    m_sink.writer().addTensorError({.run = m_run->id,
                                    .step = error.step,
                                    .layer = mapped(m_layers, error.layer),
                                    .tensor = error.tensor,
                                    .relativeError = error.relativeError});
}

void ProducerSession::on(const wire::MemoryClass& memory)
{
    m_sink.writer().addMemoryClass({.run = m_run->id, .name = memory.name, .bytes = memory.bytes});
}

void ProducerSession::on(const wire::Sample& sample)
{
    m_sink.writer().addSample(
        {.track = mapped(m_tracks, sample.track), .timeNs = m_sink.fromStart(sample.timeNs), .value = sample.value});
}

void ProducerSession::on(const wire::Diagnostic& diagnostic)
{
    m_sink.addDiagnostic({.run = m_run != nullptr ? m_run->id : RunId::none(),
                          .name = diagnostic.name,
                          .severity = diagnostic.severity,
                          .count = diagnostic.count,
                          .text = diagnostic.text});
}

}  // namespace fp8scope::recorder
