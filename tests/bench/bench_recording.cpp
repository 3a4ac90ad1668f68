// SPDX-License-Identifier: Apache-2.0
// What recording costs: a training step with the recorder against one without, in alternating blocks, and the processor
// time of the recorder a slice. The aim is less than 2% for a bf16 step of 1024-wide layers at batch 1024. Usage:
// bench_recording [PAIRS]; default 20.
#include "collector/recorder/recorder.h"
#include "collector/trace/error.h"
#include "engine/cpu/cpu_executor.h"
#include "engine/plan/step_plan.h"
#include "engine/worker/run_reporter.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

namespace fp8scope {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double cpuSeconds(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// A recorder on a thread of its own, as it is in a process of its own in a run, with its processor time known.
class BackgroundRecorder {
public:
    BackgroundRecorder() : m_recorder(m_folder / "bench.fp8trace")
    {
        m_thread = std::jthread([this](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                m_recorder.pump(20ms);
                m_cpuSeconds = cpuSeconds(CLOCK_THREAD_CPUTIME_ID);
            }
        });
    }

    [[nodiscard]] wire::Producer connect() const
    {
        return wire::Producer(m_recorder.socket(), wire::helloOfThisProcess(m_recorder.token(), "bench"));
    }
    [[nodiscard]] double secondsOfCpu() const { return m_cpuSeconds; }
    /// Long enough for all that was sent to be received and flushed.
    static void settle() { std::this_thread::sleep_for(400ms); }

private:
    test::TemporaryFolder m_folder;
    recorder::Recorder m_recorder;
    std::atomic<double> m_cpuSeconds = 0;
    std::jthread m_thread;  // last: it ends before what it uses
};

struct Quartiles {
    double low, median, high;
};

Quartiles quartiles(std::vector<double> values)
{
    std::ranges::sort(values);
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {at(0.25), at(0.5), at(0.75)};
}

constexpr int kBlockSteps = 8;

/// Of one step, as the mean of a block. Processor time is all threads', and does not depend on what else the machine
/// does.
struct StepCost {
    double wall = 0;
    double cpu = 0;
};

/// `reporter` null: unrecorded.
StepCost blockCost(cpu::CpuExecutor& executor, worker::RunReporter* reporter)
{
    BackgroundRecorder::settle();
    (void)executor.runStep();  // after the pause, caches and clocks are cold
    const auto begin = Clock::now();
    const double cpuBegin = cpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int step = 0; step < kBlockSteps; ++step) {
        const cpu::StepResult result = executor.runStep();
        if (reporter != nullptr)
            reporter->reportStep(result, false);
    }
    return {secondsSince(begin) / kBlockSteps, (cpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - cpuBegin) / kBlockSteps};
}

void compareSteps(const char* mode, int pairs)
{
    plan::MlpConfig config;
    config.widths = {1024, 1024, 1024};
    config.batch = 1024;
    const plan::StepPlan plan = plan::buildPlan(config, mode);
    cpu::CpuExecutor executor(plan);
    BackgroundRecorder recorder;
    wire::Producer producer = recorder.connect();
    worker::RunReporter reporter(producer, plan);
    BackgroundRecorder::settle();
    const double recorderBegin = recorder.secondsOfCpu();

    std::vector<double> wall, cpu, ratios;
    for (int pair = 0; pair < pairs; ++pair) {
        const bool recordedFirst = pair % 2 != 0;
        const StepCost first = blockCost(executor, recordedFirst ? &reporter : nullptr);
        const StepCost second = blockCost(executor, recordedFirst ? nullptr : &reporter);
        const auto& [with, without] = recordedFirst ? std::pair(first, second) : std::pair(second, first);
        wall.push_back(without.wall);
        cpu.push_back(without.cpu);
        ratios.push_back(with.wall / without.wall);
    }
    BackgroundRecorder::settle();
    const double recorderCpu = (recorder.secondsOfCpu() - recorderBegin) / (pairs * kBlockSteps);
    reporter.endComplete();
    const Quartiles ratio = quartiles(ratios);
    fmt::print("{:<5} {:>4} ops, step {:.3f} ms: with / without recording {:.4f} (quartiles {:.4f} to {:.4f}, {} pairs "
               "of {} steps); "
               "the recorder takes {:.1f} us of processor time a step, {:.3f}% of the step's\n",
               mode, plan.ops.size(), quartiles(wall).median * 1e3, ratio.median, ratio.low, ratio.high, pairs,
               kBlockSteps, recorderCpu * 1e6, recorderCpu / quartiles(cpu).median * 100);
}

/// Steps without their work: what reporting costs the engine and recording the recorder.
void costPerSlice()
{
    constexpr int kSteps = 2000;
    plan::MlpConfig config;
    config.widths = {1024, 1024, 1024};
    const plan::StepPlan plan = plan::buildPlan(config, "fp8");
    std::vector<cpu::OpTiming> timings;
    for (std::uint32_t op = 0; op < plan.ops.size(); ++op)
        timings.push_back({.op = op, .startNs = op * 61'000, .durNs = 60'000 + op % 7 * 100});
    const std::vector<cpu::QuantizationStat> statistics(plan.quantized.size());

    BackgroundRecorder recorder;
    wire::Producer producer = recorder.connect();
    worker::RunReporter reporter(producer, plan);
    const double begin = cpuSeconds(CLOCK_THREAD_CPUTIME_ID);
    for (int step = 0; step < kSteps; ++step)
        reporter.reportStep({.ops = timings, .quantized = statistics}, false);
    const double reportSeconds = cpuSeconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    reporter.endComplete();
    BackgroundRecorder::settle();
    const double slices = kSteps * static_cast<double>(timings.size());
    fmt::print(
        "a slice costs the engine {:.0f} ns and the recorder {:.0f} ns of processor time ({} steps of {} slices and {} "
        "statistics)\n",
        reportSeconds * 1e9 / slices, recorder.secondsOfCpu() * 1e9 / slices, kSteps, timings.size(),
        statistics.size());
}

}  // namespace
}  // namespace fp8scope

int main(int argc, char** argv)
{
    const int pairs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20;
    try {
        fp8scope::costPerSlice();
        for (const char* mode : {"bf16", "fp8"})
            fp8scope::compareSteps(mode, pairs);
    } catch (const fp8scope::Error& error) {
        fmt::print(stderr, "bench_recording: {}\n", error.what());
        return 1;
    }
    return 0;
}
