// SPDX-License-Identifier: Apache-2.0
#include "collector/recorder/trace_sink.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <unistd.h>

namespace fp8scope::recorder {

namespace {

std::int64_t monotonicNow()
{
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t wallNow() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string hostName()
{
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    return name;
}

bool sameDevice(const Device& a, const Device& b)
{
    const auto key = [](const Device& d) {
        return std::tie(d.name, d.kind, d.arch, d.units, d.peakFp8, d.peak16, d.peak32, d.peakBandwidth, d.memoryBytes,
                        d.hasFp8);
    };
    return key(a) == key(b);
}

}  // namespace

std::string afterStep(std::uint64_t finishedSteps)
{
    return finishedSteps == 0 ? "before its first step was finished" : "after step " + std::to_string(finishedSteps);
}

TraceSink::TraceSink(const std::filesystem::path& output, TraceWriter::IfExists ifExists, RecorderObserver observer)
    : m_startNs(monotonicNow()), m_writer(output, ifExists), m_observer(std::move(observer))
{
    writer().setMeta("start_wall_ns", std::to_string(wallNow() - (monotonicNow() - m_startNs)));
    writer().setMeta("start_monotonic_ns", std::to_string(m_startNs));
    writer().setMeta("host", hostName());
}

TraceWriter& TraceSink::writer()
{
    if (m_dirtySinceNs == 0)
        m_dirtySinceNs = monotonicNow();
    return m_writer;
}

DeviceId TraceSink::device(const Device& device)
{
    const auto known = std::ranges::find_if(m_devices, [&](const auto& row) { return sameDevice(row.device, device); });
    if (known != m_devices.end())
        return known->id;
    m_devices.push_back({device, writer().addDevice(device)});
    return m_devices.back().id;
}

RecordedRun& TraceSink::beginRun(const Run& run)
{
    RecordedRun recorded{.run = run};
    recorded.run.endNs = run.startNs;
    recorded.run.complete = false;
    recorded.run.note = "the recording was cut off before this run ended";
    recorded.id = writer().addRun(recorded.run);
    RecordedRun& added = m_runs.emplace_back(std::move(recorded));
    if (m_observer.onRunBegan)
        m_observer.onRunBegan(added);
    return added;
}

void TraceSink::endRun(RecordedRun& recorded, std::int64_t endNs, bool complete, const std::string& note)
{
    recorded.ended = true;
    recorded.run.endNs = endNs;
    recorded.run.complete = complete;
    recorded.run.note = note;
    writer().updateRun(recorded.id, recorded.run);
    flush();
    if (m_observer.onRunEnded)
        m_observer.onRunEnded(recorded);
}

void TraceSink::explain(RunId id, const std::string& note)
{
    const auto recorded = std::ranges::find(m_runs, id, &RecordedRun::id);
    if (recorded == m_runs.end() || recorded->run.complete)
        return;
    recorded->run.note = note;
    writer().updateRun(id, recorded->run);
}

void TraceSink::addStep(RecordedRun& recorded, const Step& step)
{
    writer().addStep(step);
    ++recorded.steps;
    m_stepEnded = true;
    if (m_observer.onStep)
        m_observer.onStep(recorded, step);
}

void TraceSink::addDiagnostic(const Diagnostic& diagnostic)
{
    writer().addDiagnostic(diagnostic);
    if (m_observer.onDiagnostic)
        m_observer.onDiagnostic(diagnostic);
}

bool TraceSink::mark(const std::string& name)
{
    if (m_runs.empty())
        return false;
    const RunId run = m_runs.back().id;
    if (m_marks.first != run) {
        Track track;
        track.run = run;
        track.process = m_runs.back().process;
        track.kind = TrackKind::Annotation;
        track.name = "marks";
        m_marks = {run, writer().addTrack(track)};
    }
    const SliceRecord slice{.startNs = fromStart(monotonicNow()),
                            .name = writer().addName({.text = name, .kind = NameKind::Range})};
    writer().addSlices(m_marks.second, {&slice, 1});
    return true;
}

void TraceSink::flush()
{
    m_writer.flush();
    m_durableSteps = steps();
    m_dirtySinceNs = 0;
    m_stepEnded = false;
    m_lastFlushNs = monotonicNow();
}

void TraceSink::close()
{
    m_writer.close();
    m_durableSteps = steps();
    m_dirtySinceNs = 0;
}

void TraceSink::flushIfDue()
{
    if (millisecondsToFlush() == 0)
        flush();
}

int TraceSink::millisecondsToFlush() const
{
    if (m_dirtySinceNs == 0)
        return -1;
    const std::int64_t dueNs =
        m_stepEnded ? std::min(m_dirtySinceNs + kFlushNs, m_lastFlushNs + kStepFlushNs) : m_dirtySinceNs + kFlushNs;
    const std::int64_t leftNs = std::max<std::int64_t>(dueNs - monotonicNow(), 0);
    return static_cast<int>((leftNs + 999'999) / 1'000'000);
}

std::uint64_t TraceSink::steps() const
{
    std::uint64_t sum = 0;
    for (const RecordedRun& recorded : m_runs)
        sum += recorded.steps;
    return sum;
}

}  // namespace fp8scope::recorder
