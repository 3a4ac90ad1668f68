// SPDX-License-Identifier: Apache-2.0
// Everything that can be refused before a run starts is refused here; then TrainingRun runs it.
#include "app/session/child_process.h"
#include "app/session/engine_output.h"
#include "app/session/session.h"
#include "app/session/training_run.h"
#include "collector/recorder/session_directory.h"
#include "collector/trace/error.h"
#include "engine/plan/step_plan.h"

#include <csignal>
#include <fstream>

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

/// Asks the engine whether this machine can run all modes: only it knows what an executor takes.
void refuseTooLarge(const RunRequest& request, const std::filesystem::path& program)
{
    const recorder::SessionDirectory directory;
    const std::filesystem::path file = directory.path() / "config.toml";
    const std::filesystem::path output = directory.path() / "output";
    std::ofstream(file) << plan::toToml(request.config);
    ChildProcess check({.program = program,
                        .arguments = {"engine-worker", "--check", file.string(), "--max-hours",
                                      std::to_string(request.maxHours), "--threads", std::to_string(request.threads)},
                        .output = output});
    const ExitStatus status = check.wait();
    if (status.signal != 0)
        throw Error("the engine was killed by signal " + std::to_string(status.signal) + " before the run",
                    program.string(), "");
    if (status.code != 0)
        throw Error(engineComplaint(output), "", "");
}

}  // namespace

RunOutcome runTraining(const RunRequest& request, const std::filesystem::path& program,
                       const std::function<void(const RunProgress&)>& onProgress, std::stop_token stop)
{
    std::vector<double> weights;
    for (const std::string& mode : request.config.modes)
        weights.push_back(stepWeight(plan::buildPlan(request.config, mode)));
    refuseTooLarge(request, program);
    const IgnoreFileSizeSignal ignore;
    return TrainingRun(request, program, onProgress, std::move(weights)).runAll(stop);
}

}  // namespace fp8scope::session
