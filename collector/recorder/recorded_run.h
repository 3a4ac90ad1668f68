// SPDX-License-Identifier: Apache-2.0
// What a recorder knows of the runs it records, and whom it tells.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <functional>
#include <string>

namespace fp8scope::recorder {

/// A run being recorded or recorded. `run` is its row in the trace.
struct RecordedRun {
    RunId id;
    Run run;
    ProcessId process;
    bool ended = false;
    std::uint64_t steps = 0;  ///< finished ones, warm-up included
    std::uint64_t slices = 0;
    std::uint64_t deviceSlices = 0;  ///< those on device queues
};

/// "after step 7", or "before its first step was finished".
[[nodiscard]] std::string afterStep(std::uint64_t finishedSteps);

/// Told of progress, on the thread that pumps the recorder. Any may be empty; none may throw.
struct RecorderObserver {
    std::function<void(const RecordedRun&)> onRunBegan;
    std::function<void(const RecordedRun&, const Step&)> onStep;
    std::function<void(const RecordedRun&)> onRunEnded;
    std::function<void(const Diagnostic&)> onDiagnostic;
};

}  // namespace fp8scope::recorder
