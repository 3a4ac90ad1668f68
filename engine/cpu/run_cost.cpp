// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/run_cost.h"

#include "collector/trace/error.h"
#include "engine/cpu/aligned_bytes.h"
#include "engine/cpu/cpu_executor.h"
#include "engine/cpu/gemm.h"
#include "engine/cpu/memory_limit.h"
#include "engine/cpu/parallel_for.h"
#include "engine/cpu/usable_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace fp8scope::cpu {

namespace {

constexpr double kAssumedBytesPerSecond = 5e9;
constexpr double kSecondsPerHour = 3600;

/// A bf16 GEMM of the engine, often enough to be told from the clock's noise; the first run warms up.
double measuredFlopsPerSecond(int threads)
{
    constexpr std::int64_t kSide = 1024;
    constexpr double kLeastSeconds = 0.03;
    const ThreadCount forThis(threads > 0 ? threads : std::min(usableCores(), maxThreads()));
    plan::GemmCall call;
    call.transA = true;
    call.a = call.b = call.d = {DType::Bf16, kSide, kSide, kSide};
    GemmRunner gemms(kernels::cpuKernels(kernels::vectorLevelFor(vectorLevel())), nativeGemmArithmetic());
    const GemmHandle gemm = gemms.prepare(call);
    const AlignedBytes a(kSide * kSide * 2), b(kSide * kSide * 2);
    AlignedBytes d(kSide * kSide * 2);
    const GemmBuffers buffers{.a = a.data(), .b = b.data(), .d = d.data()};
    gemms.run(gemm, buffers);
    const auto begin = std::chrono::steady_clock::now();
    double seconds = 0;
    int runs = 0;
    for (; seconds < kLeastSeconds; ++runs) {
        gemms.run(gemm, buffers);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return 2.0 * kSide * kSide * kSide * runs / seconds;
}

double gigabytes(std::size_t bytes) { return static_cast<double>(bytes) / 1e9; }

}  // namespace

RunCost runCost(std::span<const plan::StepPlan> modes, int threads)
{
    RunCost cost;
    cost.availableBytes = memoryState("/").availableBytes;
    for (const plan::StepPlan& plan : modes) {
        const double steps = plan.config.warmup + plan.config.steps;
        cost.bytes = std::max(cost.bytes, bytesNeeded(plan));
        for (const plan::Op& op : plan.ops) {
            cost.flops += steps * op.flops;
            cost.movedBytes += op.gemm ? 0 : steps * static_cast<double>(op.bytes);
        }
    }
    cost.flopsPerSecond = measuredFlopsPerSecond(threads);
    cost.seconds = cost.flops / cost.flopsPerSecond + cost.movedBytes / kAssumedBytesPerSecond;
    return cost;
}

void refuseTooLarge(std::span<const plan::StepPlan> modes, double maxHours, int threads)
{
    const RunCost cost = runCost(modes, threads);
    const double hours = cost.seconds / kSecondsPerHour;
    if (cost.bytes <= cost.availableBytes && hours <= maxHours)
        return;
    const bool memory = cost.bytes > cost.availableBytes;
    throw Error(
        fmt::format("too large for this CPU: it needs {} bytes of memory ({:.1f} GB; {:.1f} GB are available) "
                    "and about {:.2g} hours ({:.3g} FLOP at {:.0f} GFLOP/s, measured, and {:.3g} bytes moved at "
                    "{:.0f} GB/s, assumed; at most {:g} hours are allowed)",
                    cost.bytes, gigabytes(cost.bytes), gigabytes(cost.availableBytes), hours, cost.flops,
                    cost.flopsPerSecond / 1e9, cost.movedBytes, kAssumedBytesPerSecond / 1e9, maxHours),
        modes.empty() ? "" : fmt::format("run '{}'", modes.front().config.name),
        memory ? "lower batch, widths or dataset_batches, or take a preset whose name ends in -cpu; "
                 "--print-plan works at any size"
               : "lower steps, batch or widths, take a preset whose name ends in -cpu, or raise --max-hours; "
                 "--print-plan works at any size");
}

}  // namespace fp8scope::cpu
