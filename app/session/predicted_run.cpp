// SPDX-License-Identifier: Apache-2.0
#include "app/session/predicted_run.h"

#include "engine/worker/plan_records.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace fp8scope::session {
namespace {

Device deviceRow(const predict::DeviceSpec& spec)
{
    return {.name = spec.name,
            .kind = spec.isCpu() ? "cpu" : "gpu",
            .arch = spec.isCpu() ? std::string() : fmt::format("sm_{}", spec.computeCapability),
            .units = static_cast<std::int32_t>(spec.sms),
            .peakFp8 = spec.peakFp8,
            .peak16 = spec.peak16,
            .peakBandwidth = spec.bandwidth,
            .memoryBytes = static_cast<std::uint64_t>(spec.memoryBytes),
            .hasFp8 = spec.peakFp8 > 0};
}

template <typename Row, typename IdType>
IdType append(std::vector<Row>& rows, Row row, IdType)
{
    rows.push_back(std::move(row));
    return IdType(static_cast<std::uint32_t>(rows.size() - 1));
}

/// One mode's run, appended to a trace.
class PredictedRunWriter {
public:
    PredictedRunWriter(Trace& trace, const plan::StepPlan& plan, const predict::PredictedStep& step)
        : m_trace(trace), m_plan(plan), m_step(step)
    {}

    void write(const PredictionRequest& request, const predict::DeviceModel& device, const std::string& mode)
    {
        m_run = append(m_trace.runs,
                       Run{.mode = mode,
                           .origin = Origin::Predicted,
                           .configToml = plan::toToml(request.config),
                           .planText = plan::print(m_plan),
                           .tool = request.tool,
                           .startNs = m_startNs,
                           .complete = true},
                       RunId());
        addModel();
        addTracks(device.spec.isCpu() || request.host == predict::Host::None);
        for (int i = 0; i < request.steps; ++i)
            addStep(i);
        m_trace.runs.back().endNs = m_startNs + request.steps * m_step.stepNs;
        for (const plan::MemoryUse& use : plan::memoryByClass(m_plan))
            m_trace.memory.push_back({m_run, use.name, use.bytes});
        m_trace.diagnostics.push_back({m_run, "predicted", Severity::Info, 1,
                                       fmt::format("times are predicted for {}: constants {}; submitted by {}",
                                                   device.spec.name, device.provenance, toString(request.host))});
    }

private:
    void addModel()
    {
        std::vector<LayerId> layers;
        for (std::size_t i = 0; i < m_plan.layers.size(); ++i) {
            const wire::Layer layer = worker::layerRecord(m_plan, i);
            layers.push_back(append(m_trace.layers,
                                    Layer{m_run, layer.index, layer.name, layer.inFeatures, layer.outFeatures,
                                          layer.precision, layer.reason},
                                    LayerId()));
        }
        for (std::size_t i = 0; i < m_plan.ops.size(); ++i) {
            const int layer = m_plan.ops[i].layer;
            const wire::Op op = worker::opRecord(m_plan, i, wire::LocalLayer());
            m_ops.push_back(append(m_trace.ops,
                                   TraceOp{.run = m_run,
                                           .index = op.index,
                                           .layer = layer < 0 ? LayerId() : layers[static_cast<std::size_t>(layer)],
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
                                           .bytes = op.bytes},
                                   OpId()));
            const wire::Name name = worker::nameRecord(m_plan, i);
            m_names.push_back(append(m_trace.names,
                                     Name{name.text, name.kind, name.role, name.fused, name.precision, "predicted"},
                                     NameId()));
        }
        m_submit =
            append(m_trace.names, Name{.text = "submit", .kind = NameKind::Api, .library = "predicted"}, NameId());
    }

    void addTracks(bool withoutHost)
    {
        m_queue = append(m_trace.tracks,
                         Track{.run = m_run,
                               .process = ProcessId(0),
                               .device = DeviceId(0),
                               .kind = TrackKind::DeviceQueue,
                               .name = "predicted queue"},
                         TrackId());
        if (!withoutHost)
            m_host = append(m_trace.tracks,
                            Track{.run = m_run,
                                  .process = ProcessId(0),
                                  .kind = TrackKind::CpuThread,
                                  .name = "predicted submissions"},
                            TrackId());
    }

    void addStep(int index)
    {
        const std::int64_t startNs = m_startNs + index * m_step.stepNs;
        for (std::size_t i = 0; i < m_step.ops.size(); ++i) {
            const predict::PredictedOp& op = m_step.ops[i];
            const std::uint64_t correlation =
                m_host.valid() ? static_cast<std::uint64_t>(index) * m_step.ops.size() + i + 1 : 0;
            addSlice(m_queue, startNs + op.startNs, op.durNs, m_names[i], m_ops[i], correlation);
            if (m_host.valid())
                addSlice(m_host, startNs + op.submitNs, op.submittedNs - op.submitNs, m_submit, OpId(), correlation);
        }
        m_trace.steps.push_back({.run = m_run,
                                 .index = static_cast<std::uint32_t>(index),
                                 .startNs = startNs,
                                 .durNs = m_step.stepNs,
                                 .loss = std::numeric_limits<double>::quiet_NaN()});
    }

    void addSlice(TrackId track, std::int64_t startNs, std::int64_t durNs, NameId name, OpId op,
                  std::uint64_t correlation)
    {
        SliceColumns& slices = m_trace.tracks[track.value].slices;
        slices.startNs.push_back(startNs);
        slices.durNs.push_back(durNs);
        slices.name.push_back(name);
        slices.op.push_back(op);
        if (correlation != 0)
            slices.correlation.push_back(correlation);
    }

    Trace& m_trace;
    const plan::StepPlan& m_plan;
    const predict::PredictedStep& m_step;
    std::int64_t m_startNs = m_trace.runs.empty() ? 0 : m_trace.runs.back().endNs;
    RunId m_run;
    TrackId m_queue, m_host;
    NameId m_submit;
    std::vector<OpId> m_ops;
    std::vector<NameId> m_names;
};

}  // namespace

Prediction predictRun(const PredictionRequest& request, const predict::DeviceModel& device)
{
    Prediction prediction;
    prediction.trace.processes.push_back({.name = "prediction"});
    prediction.trace.devices.push_back(deviceRow(device.spec));
    for (const std::string& mode : request.config.modes) {
        const plan::StepPlan plan = plan::buildPlan(request.config, mode);
        const predict::Host host = device.spec.isCpu() ? predict::Host::None : request.host;
        prediction.modes.push_back({mode, predictStep(plan, device, host)});
        PredictedRunWriter(prediction.trace, plan, prediction.modes.back().step).write(request, device, mode);
    }
    finishTracks(prediction.trace);
    return prediction;
}

}  // namespace fp8scope::session
