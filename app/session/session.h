// SPDX-License-Identifier: Apache-2.0
// A run from start to end: starts the engine as a child process a mode, records, reports progress, cancels.
#pragma once

#include "engine/plan/config.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace fp8scope::session {

struct RunRequest {
    plan::MlpConfig config;
    std::filesystem::path output;
    bool replace = false;  ///< overwrite an existing file
    int threads = 0;
    double maxHours = 1;  ///< an estimate beyond it is refused
    int repeats = 1;      ///< of each mode, alternating (see schedule.h)
    /// What the file is to say of the run beside its configuration: keys and values of `meta`.
    std::vector<std::pair<std::string, std::string>> meta;
};

/// After every step, and when a mode (or a repeat of it) starts (step 0).
struct RunProgress {
    std::string mode;
    int modeIndex = 0, modeCount = 0;  ///< position among all runs to do, repeats counted
    int repeat = 0, repeats = 1;       ///< of the mode; from 0
    int step = 0, steps = 0;
    double loss = 0;
    std::int64_t stepNs = 0;
    double secondsLeft = -1;  ///< of the whole run; -1: not known yet
};

struct RunOutcome {
    bool complete = false;
    bool cancelled = false;
    std::string message;                 ///< one sentence for the user when not complete
    std::vector<std::string> modesDone;  ///< once a repeat, in the order in which they ran
    std::uint64_t stepsRecorded = 0;
    std::uint64_t slices = 0;
};

/// Runs all modes in turn, and all repeats, each in a child process (`fp8scope engine-worker`), into one trace.
///
/// Refuses before anything is written, by Error, what cannot work: plans that this machine's memory does not hold or
/// that would take longer than maxHours, an output file that exists (unless `replace`) or that another run is writing.
/// A mode that fails by itself (its loss is no longer finite) does not keep the others from running, but is not
/// repeated. A killed child, a cancel (the child finishes its step; it is killed if that takes longer than ten seconds
/// and two steps) and a full disk end the run. In each case what was recorded is kept, and the outcome says so.
/// `program`: the fp8scope executable to start for children. `onProgress` is called on this thread.
[[nodiscard]] RunOutcome runTraining(const RunRequest&, const std::filesystem::path& program,
                                     const std::function<void(const RunProgress&)>& onProgress, std::stop_token stop);

}  // namespace fp8scope::session
