// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as a wish to stop after the current step.
#pragma once

#include <csignal>

namespace fp8scope::worker {

/// While it lives, the two signals are noted instead of ending the process. At most one at a time in a process, since
/// signal dispositions are the process's.
class StopSignals {
public:
    /// `parent`: also stop when this process, which must be the one that started us, ends; 0: none.
    explicit StopSignals(int parent);
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    [[nodiscard]] bool requested() const;

private:
    struct sigaction m_oldInterrupt = {};
    struct sigaction m_oldTerminate = {};
};

}  // namespace fp8scope::worker
