// SPDX-License-Identifier: Apache-2.0
// One run of several modes and their repeats, each in a child process, into one trace: what runTraining does once it
// may start.
#pragma once

#include "app/session/child_process.h"
#include "app/session/schedule.h"
#include "app/session/session.h"
#include "app/session/time_left.h"
#include "collector/recorder/recorder.h"

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace fp8scope::session {

class TrainingRun {
public:
    /// Makes the trace; throws Error as Recorder does. `stepWeights`: a guess of each mode's step cost, in any unit.
    TrainingRun(const RunRequest&, std::filesystem::path program, std::function<void(const RunProgress&)> onProgress,
                std::vector<double> stepWeights);

    [[nodiscard]] RunOutcome runAll(const std::stop_token& stop);

private:
    enum class Next { Mode, End };  ///< whether the modes after this one are still wanted

    [[nodiscard]] Next runMode(const std::stop_token& stop);
    /// Records until the child has ended and everything that it sent has arrived.
    ExitStatus superviseChild(ChildProcess& child, const std::stop_token& stop);
    [[nodiscard]] Next judge(const ExitStatus& status);
    void finish();

    void stepEnded(const recorder::RecordedRun&, const Step&);
    void reportProgress(int step, double loss, std::int64_t stepNs);
    /// The current mode's run, or nullptr if it did not get to begin.
    [[nodiscard]] const recorder::RecordedRun* currentRun() const;
    [[nodiscard]] const std::string& mode() const { return m_request.config.modes[m_schedule[m_current].mode]; }
    /// "fp8", or "fp8 (repeat 2 of 3)".
    [[nodiscard]] std::string spokenRun() const;
    /// The file that takes the output of the current run's engine.
    [[nodiscard]] std::filesystem::path engineOutput() const;
    [[nodiscard]] std::string whatIsKept(const std::string& whose, std::uint64_t steps) const;
    void addMessage(const std::string& sentence);

    const RunRequest& m_request;
    std::filesystem::path m_program;
    std::function<void(const RunProgress&)> m_onProgress;
    std::vector<ScheduledRun> m_schedule;
    TimeLeft m_timeLeft;
    recorder::Recorder m_recorder;
    RunOutcome m_outcome;
    std::size_t m_current = 0;            ///< index into the schedule
    std::size_t m_runsBefore = 0;         ///< runs that the recorder had when it was started
    std::set<std::string> m_failedModes;  ///< their repeats would fail in the same way
    std::int64_t m_longestStepNs = 0;
};

}  // namespace fp8scope::session
