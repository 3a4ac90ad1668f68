// SPDX-License-Identifier: Apache-2.0
#include "app/session/collect.h"

#include "app/session/signal_forwarder.h"
#include "collector/recorder/control_socket.h"
#include "collector/recorder/recorder.h"
#include "collector/trace/error.h"
#include "collector/wire/injection.h"
#include "collector/wire/producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace fp8scope::session {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookAround{20};      // how long a signal or the command's end may go unnoticed
constexpr milliseconds kDrainLimit{10'000};  // for processes that outlive the command

std::vector<std::pair<std::string, std::string>> environmentOf(const CollectRequest& request,
                                                               const recorder::Recorder& recorder)
{
    const std::string library = std::filesystem::absolute(request.library).string();
    std::vector<std::pair<std::string, std::string>> variables{
        {"CUDA_INJECTION64_PATH", library},
        {wire::kSocketVariable, recorder.socket().string()},
        {wire::kTokenVariable, recorder.token()},
    };
    const auto add = [&](bool wanted, const char* name, std::string value) {
        if (wanted)
            variables.emplace_back(name, std::move(value));
    };
    add(std::getenv("NVTX_INJECTION64_PATH") == nullptr, "NVTX_INJECTION64_PATH", library);
    add(!request.cupti.empty(), wire::kCuptiVariable, request.cupti);
    add(!request.kinds.empty(), wire::kKindsVariable, request.kinds);
    add(request.graphsAsOne, wire::kGraphsVariable, "as-one");
    add(!request.recordCommandLine, wire::kCommandLineVariable, "0");
    add(request.from == RecordFrom::Delay || request.from == RecordFrom::Command, wire::kStartVariable, "paused");
    add(request.from == RecordFrom::CudaProfiler, wire::kStartVariable, "cuda-profiler");
    add(request.bufferMiB > 0, wire::kMemoryVariable, std::to_string(request.bufferMiB));
    return variables;
}

void requireLibrary(const CollectRequest& request)
{
    if (!std::filesystem::exists(request.library))
        throw Error("the library that records is missing", request.library.string(),
                    "build fp8scope where the CUDA toolkit is installed, or install its package whole");
}

/// When recording is to begin and to end.
class Timetable {
public:
    explicit Timetable(const CollectRequest& request) : m_request(request), m_start(Clock::now()) {}

    /// Tells the producers what is due.
    void keep(recorder::Recorder& recorder)
    {
        const auto since = Clock::now() - m_start;
        if (m_request.from == RecordFrom::Delay && !m_started && since >= m_request.delay) {
            recorder.setRecording(true);
            m_started = true;
        }
        const auto begin = m_request.from == RecordFrom::Delay ? m_request.delay : milliseconds(0);
        if (m_request.duration.count() > 0 && !m_ended && since >= begin + m_request.duration)
            end(recorder, "");
        if (m_request.maxFileBytes > 0 && !m_ended && fileBytes() >= m_request.maxFileBytes)
            end(recorder, fmt::format("recording ended when {} reached --max-size", m_request.output.string()));
    }
    [[nodiscard]] const std::string& message() const { return m_message; }

private:
    void end(recorder::Recorder& recorder, std::string message)
    {
        recorder.setRecording(false);
        m_ended = true;
        m_message = std::move(message);
    }
    /// With what SQLite's log holds, which becomes part of the file at the end.
    [[nodiscard]] std::uint64_t fileBytes() const
    {
        std::uint64_t bytes = 0;
        for (const char* suffix : {"", "-wal"}) {
            std::error_code error;
            const auto size = std::filesystem::file_size(m_request.output.string() + suffix, error);
            bytes += error ? 0 : size;
        }
        return bytes;
    }

    const CollectRequest& m_request;
    Clock::time_point m_start;
    bool m_started = false, m_ended = false;
    std::string m_message;
};

/// The reply to a line of `fp8scope ctl`.
std::string answer(std::string_view line, recorder::Recorder& recorder)
{
    if (line == "start" || line == "stop") {
        recorder.setRecording(line == "start");
        return line == "start" ? "recording" : "paused";
    }
    if (line.starts_with("mark ")) {
        const bool marked = recorder.mark(std::string(line.substr(5)));
        return marked ? "marked" : "no process has been recorded yet, so there is no timeline to mark";
    }
    std::uint64_t slices = 0;
    for (const recorder::RecordedRun& run : recorder.runs())
        slices += run.slices;
    return line == "status" ? fmt::format("{} records of {} processes", slices, recorder.runs().size())
                            : "this recording does not know '" + std::string(line) + "'";
}

void addDiagnostic(std::vector<Diagnostic>& all, const Diagnostic& diagnostic)
{
    const auto known = std::ranges::find(all, diagnostic.name, &Diagnostic::name);
    if (known == all.end())
        all.push_back(diagnostic);
    else
        known->count += diagnostic.count;
}

void addRuns(CollectOutcome& outcome, const recorder::Recorder& recorder)
{
    for (const recorder::RecordedRun& run : recorder.runs()) {
        outcome.firstNs = outcome.processes == 0 ? run.run.startNs : std::min(outcome.firstNs, run.run.startNs);
        outcome.lastNs = std::max(outcome.lastNs, run.run.endNs);
        ++outcome.processes;
        outcome.slices += run.slices;
        outcome.deviceSlices += run.deviceSlices;
    }
}

}  // namespace

CollectOutcome collect(const CollectRequest& request)
{
    requireLibrary(request);
    CollectOutcome outcome;
    recorder::RecorderObserver observer;
    observer.onDiagnostic = [&](const Diagnostic& d) { addDiagnostic(outcome.diagnostics, d); };
    SignalForwarder signals;  // before the command exists, so that none is lost
    const auto ifExists = request.replace ? TraceWriter::IfExists::Replace : TraceWriter::IfExists::Refuse;
    recorder::Recorder recorder(request.output, ifExists, observer);
    recorder::ControlSocket control(recorder.directory());
    ChildProcess child({.program = request.command.front(),
                        .arguments = {request.command.begin() + 1, request.command.end()},
                        .addedEnvironment = environmentOf(request, recorder),
                        .output = {}});
    Timetable timetable(request);
    std::optional<ExitStatus> status;
    try {
        while (!(status = child.poll())) {
            recorder.pump(kLookAround);
            timetable.keep(recorder);
            control.serve([&](std::string_view line) { return answer(line, recorder); });
            signals.forwardTo(child);
        }
        recorder.drain(kDrainLimit);
        recorder.close();
    } catch (const Error& error) {
        outcome.message = fmt::format("recording stopped: {}; the command was not disturbed", error.what());
        while (!(status = child.poll()))
            signals.waitAndForwardTo(child, kLookAround);
    }
    if (outcome.message.empty())
        outcome.message = timetable.message();
    outcome.status = *status;
    addRuns(outcome, recorder);
    return outcome;
}

}  // namespace fp8scope::session
