// SPDX-License-Identifier: Apache-2.0
// One producer's records on their way into the trace: its ids become the trace's, its clock the trace's.
#pragma once

#include "collector/recorder/trace_sink.h"
#include "collector/wire/records.h"

#include <string>
#include <vector>

namespace fp8scope::recorder {

/// Fed with the records of one connection, as wire::Decoder gives them (so ids are known to be declared).
class ProducerSession {
public:
    ProducerSession(TraceSink&, const wire::Hello&);

    /// Writes a record. Throws Error when the trace cannot be written.
    void accept(const wire::Record&);
    /// The connection ended. Without a bye, its run is marked incomplete: `reason`, and the last finished step.
    void disconnected(const std::string& reason);

private:
    void on(const wire::Hello&) {}  // the constructor has seen it, the decoder allows no second
    void on(const wire::RunBegin&);
    void on(const wire::RunEnd&);
    void on(const wire::Device&);
    void on(const wire::Track&);
    void on(const wire::Name&);
    void on(const wire::LaunchShape&);
    void on(const wire::Layer&);
    void on(const wire::Op&);
    void on(const wire::Tensor& tensor) { m_tensors.push_back(tensor); }
    void on(const wire::SliceBatch&);
    void on(const wire::StepEnd&);
    void on(const wire::TensorStat&);
    void on(const wire::ExponentHistogram&);
    void on(const wire::StepValue&);
    void on(const wire::TensorError&);
    void on(const wire::MemoryClass&);
    void on(const wire::Sample&);
    void on(const wire::Diagnostic&);
    void on(const wire::Bye&) {}  // the disconnection follows

    TraceSink& m_sink;
    ProcessId m_process;
    RecordedRun* m_run = nullptr;  ///< the one that is not ended
    std::int64_t m_lastNs = 0;     ///< the latest end of what was recorded of the run
    // The trace's ids by the producer's.
    std::vector<DeviceId> m_devices;
    std::vector<NameId> m_names;
    std::vector<LaunchShapeId> m_shapes;
    std::vector<TrackId> m_tracks;
    std::vector<TrackKind> m_trackKinds;
    std::vector<LayerId> m_layers;
    std::vector<OpId> m_ops;
    std::vector<wire::Tensor> m_tensors;
    std::vector<SliceRecord> m_slices;  ///< kept for its capacity
};

}  // namespace fp8scope::recorder
