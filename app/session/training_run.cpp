// SPDX-License-Identifier: Apache-2.0
#include "app/session/training_run.h"

#include "app/session/engine_output.h"
#include "collector/trace/error.h"
#include "collector/wire/producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include <unistd.h>

namespace fp8scope::session {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookAround{50};    // how long a cancel or a child's end may go unnoticed
constexpr milliseconds kDrainLimit{5000};  // a dead child's socket is drained in a moment; this is for a stuck machine
constexpr std::chrono::seconds kLeastGrace{10};
constexpr int kWorkerStopped = 3;  // engine/worker's exit code after SIGINT or SIGTERM

recorder::RecorderObserver observerOf(std::function<void(const recorder::RecordedRun&, const Step&)> onStep)
{
    recorder::RecorderObserver observer;
    observer.onStep = std::move(onStep);
    return observer;
}

std::vector<double> inScheduleOrder(const std::vector<double>& ofModes, const std::vector<ScheduledRun>& schedule)
{
    std::vector<double> ofRuns;
    for (const ScheduledRun& run : schedule)
        ofRuns.push_back(ofModes.at(run.mode));
    return ofRuns;
}

}  // namespace

TrainingRun::TrainingRun(const RunRequest& request, std::filesystem::path program,
                         std::function<void(const RunProgress&)> onProgress, std::vector<double> stepWeights)
    : m_request(request), m_program(std::move(program)), m_onProgress(std::move(onProgress)),
      m_schedule(schedule(request.config.modes.size(), request.repeats)),
      m_timeLeft(inScheduleOrder(stepWeights, m_schedule), request.config.warmup + request.config.steps),
      m_recorder(request.output, request.replace ? TraceWriter::IfExists::Replace : TraceWriter::IfExists::Refuse,
                 observerOf([this](const auto& run, const Step& step) { stepEnded(run, step); }))
{}

RunOutcome TrainingRun::runAll(const std::stop_token& stop)
{
    std::ofstream(m_recorder.directory() / "config.toml") << plan::toToml(m_request.config);
    try {
        for (const auto& [key, value] : m_request.meta)
            m_recorder.setMeta(key, value);
        Next next = Next::Mode;
        for (m_current = 0; m_current < m_schedule.size() && next == Next::Mode; ++m_current) {
            if (!m_failedModes.contains(mode()))
                next = runMode(stop);
        }
        m_recorder.close();
    } catch (const Error& error) {
        if (!m_recorder.failed())
            throw;
        addMessage(fmt::format("recording stopped in the {} run: {}; {}", spokenRun(), error.what(),
                               whatIsKept("the", m_recorder.durableSteps())));
    }
    finish();
    return m_outcome;
}

void TrainingRun::finish()
{
    m_outcome.complete = m_outcome.message.empty() && m_outcome.modesDone.size() == m_schedule.size();
    m_outcome.cancelled = m_outcome.cancelled && !m_outcome.complete;
    m_outcome.stepsRecorded = m_recorder.durableSteps();
    for (const recorder::RecordedRun& run : m_recorder.runs())
        m_outcome.slices += run.slices;
}

TrainingRun::Next TrainingRun::runMode(const std::stop_token& stop)
{
    m_runsBefore = m_recorder.runs().size();
    reportProgress(0, 0, 0);
    ChildProcess child({.program = m_program,
                        .arguments = {"engine-worker", "--socket", m_recorder.socket().string(), "--config",
                                      (m_recorder.directory() / "config.toml").string(), "--mode", mode(), "--threads",
                                      std::to_string(m_request.threads), "--parent", std::to_string(::getpid())},
                        .addedEnvironment = {{wire::kTokenVariable, m_recorder.token()}},
                        .output = engineOutput()});
    const ExitStatus status = superviseChild(child, stop);
    m_timeLeft.modeEnded(m_current);
    return judge(status);
}

ExitStatus TrainingRun::superviseChild(ChildProcess& child, const std::stop_token& stop)
{
    std::optional<Clock::time_point> deadline;  // of a child that was asked to stop
    for (;;) {
        m_recorder.pump(kLookAround);
        if (stop.stop_requested() && !deadline) {
            m_outcome.cancelled = true;
            child.send(SIGINT);
            deadline =
                Clock::now() + std::max<Clock::duration>(kLeastGrace, std::chrono::nanoseconds(2 * m_longestStepNs));
        }
        if (deadline && Clock::now() > *deadline)
            child.send(SIGKILL);
        if (const auto status = child.poll()) {
            m_recorder.drain(kDrainLimit);
            return *status;
        }
    }
}

/// What became of a mode. Its own failure (a loss that is not finite) leaves the others worth running; a kill or a
/// cancel means that somebody, or the machine, wants the run to end.
TrainingRun::Next TrainingRun::judge(const ExitStatus& status)
{
    const recorder::RecordedRun* run = currentRun();
    const std::uint64_t steps = run != nullptr ? run->steps : 0;
    if (run != nullptr && run->run.complete && status.signal == 0 && status.code == 0) {
        m_outcome.modesDone.push_back(mode());
        if (!m_outcome.cancelled)
            return Next::Mode;
        if (m_outcome.modesDone.size() < m_schedule.size())
            addMessage(fmt::format("stopped after the {} run; {}", spokenRun(), whatIsKept("its", steps)));
        return Next::End;
    }
    const std::string after = recorder::afterStep(steps);
    const auto end = [&](const std::string& how) {
        if (status.signal != 0 && run != nullptr)
            m_recorder.explain(run->id, how + " " + after);
        addMessage(fmt::format("the {} run was {} {}; {}", spokenRun(), how, after, whatIsKept("its", steps)));
        return Next::End;
    };
    // A terminal's Ctrl-C reaches the child as well, perhaps before this process has heard of it.
    if (m_outcome.cancelled || status.code == kWorkerStopped || status.signal == SIGINT) {
        m_outcome.cancelled = true;
        return end("stopped");
    }
    if (status.signal != 0)
        return end(fmt::format("killed by signal {}", status.signal));
    if (m_outcome.message.empty())
        addMessage(fmt::format("the {} run failed {}: {}; {}", spokenRun(), after, engineComplaint(engineOutput()),
                               whatIsKept("its", steps)));
    else
        addMessage(fmt::format("the {} run failed too", spokenRun()));  // its own reason stands in the run's note
    m_failedModes.insert(mode());
    return run != nullptr ? Next::Mode : Next::End;  // an engine that did not even begin will not for another mode
}

std::string TrainingRun::spokenRun() const
{
    if (m_request.repeats == 1)
        return mode();
    return fmt::format("{} (repeat {} of {})", mode(), m_schedule[m_current].repeat + 1, m_request.repeats);
}

std::filesystem::path TrainingRun::engineOutput() const
{
    return m_recorder.directory() / fmt::format("engine{}.output", m_current);
}

const recorder::RecordedRun* TrainingRun::currentRun() const
{
    return m_recorder.runs().size() > m_runsBefore ? &m_recorder.runs().back() : nullptr;
}

/// "its 7 finished steps are in demo.fp8trace".
std::string TrainingRun::whatIsKept(const std::string& whose, std::uint64_t steps) const
{
    const std::string file = m_request.output.string();
    if (steps > 0)
        return fmt::format("{} {} finished {} in {}", whose, steps, steps == 1 ? "step is" : "steps are", file);
    return m_recorder.durableSteps() > 0 ? "the steps of the runs before are in " + file : file + " holds no steps";
}

/// The outcome has one sentence; what other modes add is appended to it.
void TrainingRun::addMessage(const std::string& sentence)
{
    m_outcome.message += (m_outcome.message.empty() ? "" : "; ") + sentence;
}

void TrainingRun::stepEnded(const recorder::RecordedRun& run, const Step& step)
{
    m_timeLeft.stepDone(m_current, step.durNs);
    m_longestStepNs = std::max(m_longestStepNs, step.durNs);
    reportProgress(static_cast<int>(run.steps), step.loss, step.durNs);
}

void TrainingRun::reportProgress(int step, double loss, std::int64_t stepNs)
{
    if (!m_onProgress)
        return;
    const plan::MlpConfig& config = m_request.config;
    m_onProgress({.mode = mode(),
                  .modeIndex = static_cast<int>(m_current),
                  .modeCount = static_cast<int>(m_schedule.size()),
                  .repeat = m_schedule[m_current].repeat,
                  .repeats = m_request.repeats,
                  .step = step,
                  .steps = config.warmup + config.steps,
                  .loss = loss,
                  .stepNs = stepNs,
                  .secondsLeft = m_timeLeft.seconds()});
}

}  // namespace fp8scope::session
