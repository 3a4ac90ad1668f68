// SPDX-License-Identifier: Apache-2.0
// What all producers of a recording write into: the trace, its clock, the rows they share.
#pragma once

#include "collector/recorder/recorded_run.h"
#include "collector/trace/trace_writer.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace fp8scope::recorder {

/// The trace's one writer, with the runs recorded so far and the observer.
class TraceSink {
public:
    TraceSink(const std::filesystem::path& output, TraceWriter::IfExists, RecorderObserver);

    /// The trace, marked as having something to flush.
    [[nodiscard]] TraceWriter& writer();
    /// Nanoseconds from the trace's start of a time on CLOCK_MONOTONIC.
    [[nodiscard]] std::int64_t fromStart(std::int64_t monotonicNs) const { return monotonicNs - m_startNs; }
    /// The row of a device: three processes on one CPU are one device.
    [[nodiscard]] DeviceId device(const Device&);

    /// Adds a run. Until it ends, its row says that the recording was cut off, should this be all that is written.
    RecordedRun& beginRun(const Run&);
    void endRun(RecordedRun&, std::int64_t endNs, bool complete, const std::string& note);
    /// Replaces the note of an incomplete run by one of somebody who knows more.
    void explain(RunId, const std::string& note);
    void addStep(RecordedRun&, const Step&);
    void addDiagnostic(const Diagnostic&);
    /// False while no run has begun.
    bool mark(const std::string& name);

    void flush();
    void close();
    /// Flushes if a step ended and the last flush is kStepFlushNs ago, or if anything has waited for kFlushNs.
    void flushIfDue();
    /// Milliseconds until flushIfDue() should be called; -1: nothing waits.
    [[nodiscard]] int millisecondsToFlush() const;

    [[nodiscard]] const std::deque<RecordedRun>& runs() const { return m_runs; }
    /// Steps that have been flushed.
    [[nodiscard]] std::uint64_t durableSteps() const { return m_durableSteps; }

    static constexpr std::int64_t kFlushNs = 250'000'000;
    static constexpr std::int64_t kStepFlushNs = 100'000'000;  ///< a short step need not pay for a commit of its own

private:
    [[nodiscard]] std::uint64_t steps() const;

    std::int64_t m_startNs;
    TraceWriter m_writer;
    RecorderObserver m_observer;
    std::deque<RecordedRun> m_runs;  ///< references stay valid
    struct KnownDevice {
        Device device;
        DeviceId id;
    };
    std::vector<KnownDevice> m_devices;
    std::pair<RunId, TrackId> m_marks;  ///< the track of marks, and its run
    std::uint64_t m_durableSteps = 0;
    std::int64_t m_dirtySinceNs = 0;  ///< 0: nothing to flush
    std::int64_t m_lastFlushNs = 0;
    bool m_stepEnded = false;
};

}  // namespace fp8scope::recorder
