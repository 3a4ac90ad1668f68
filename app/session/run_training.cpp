// SPDX-License-Identifier: Apache-2.0
// Everything that can be refused before a run starts is refused here; then TrainingRun runs it.
#include "app/session/memory_check.h"
#include "app/session/session.h"
#include "app/session/training_run.h"

#include <csignal>

namespace fp8scope::session {

namespace {

/// With a limit on file sizes, the kernel would kill the recorder by SIGXFSZ instead of failing the write.
class IgnoreFileSizeSignal {
public:
    IgnoreFileSizeSignal()
    {
        struct sigaction ignore = {};
        ignore.sa_handler = SIG_IGN;
        ::sigaction(SIGXFSZ, &ignore, &m_old);
    }
    ~IgnoreFileSizeSignal() { ::sigaction(SIGXFSZ, &m_old, nullptr); }
    IgnoreFileSizeSignal(const IgnoreFileSizeSignal&) = delete;
    IgnoreFileSizeSignal& operator=(const IgnoreFileSizeSignal&) = delete;

private:
    struct sigaction m_old = {};
};

/// What a step costs on some CPU, for the time left before a mode is measured: only ratios between modes matter.
double stepWeight(const plan::StepPlan& plan)
{
    constexpr double kFlopsPerSecond = 1e11, kBytesPerSecond = 1e10;
    double seconds = 0;
    for (const plan::Op& op : plan.ops)
        seconds += op.flops / kFlopsPerSecond + static_cast<double>(op.bytes) / kBytesPerSecond;
    return seconds;
}

}  // namespace

RunOutcome runTraining(const RunRequest& request, const std::filesystem::path& program,
                       const std::function<void(const RunProgress&)>& onProgress, std::stop_token stop)
{
    std::vector<double> weights;
    const std::uint64_t available = availableMemory();
    for (const std::string& mode : request.config.modes) {
        const plan::StepPlan plan = plan::buildPlan(request.config, mode);
        requireMemory(plan, available);
        weights.push_back(stepWeight(plan));
    }
    const IgnoreFileSizeSignal ignore;
    return TrainingRun(request, program, onProgress, std::move(weights)).runAll(stop);
}

}  // namespace fp8scope::session
