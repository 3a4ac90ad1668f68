// SPDX-License-Identifier: Apache-2.0
// Runs a StepPlan on the CPU with real numerics: fp8 tensors are bytes, GEMMs are oneDNN's on decoded operands.
#pragma once

#include "engine/plan/step_plan.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fp8scope::cpu {

/// When an op ran, in steady_clock nanoseconds.
struct OpTiming {
    std::uint32_t op = 0;  ///< index into StepPlan::ops
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
};

/// Counters of one quantization, as in TensorStat.
struct QuantizationStat {
    float amax = 0, scale = 1;
    std::uint64_t count = 0, saturated = 0, underflowed = 0, zeros = 0;
};

/// What a sample of a tensor's elements says of its quantization in one step.
struct QuantizationQuality {
    double sqnrDb = std::numeric_limits<double>::quiet_NaN();  ///< signal to quantization noise; NaN: not known (many
                                                               ///< scales, or a cast within other work)
    std::array<std::uint32_t, 256> exponents{};  ///< [e]: elements of 2^(e - 127) <= |x| < 2^(e - 126), before scaling
};

struct StepResult {
    double loss = 0;
    double gradientNorm = std::numeric_limits<double>::quiet_NaN();  ///< L2, of all gradients; NaN: not asked for
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
    std::int64_t gemmLibraryNs = 0;               ///< of durNs, spent inside oneDNN
    std::span<const OpTiming> ops;                ///< valid until the next step
    std::span<const QuantizationStat> quantized;  ///< one per StepPlan::quantized
    std::span<const QuantizationQuality>
        quality;  ///< the same, in every `numerics.every`-th step from the first; else empty
};

struct ExecutorOptions {
    int threads = 0;  ///< 0: as many as the process may use (cores allowed, control groups, OMP_NUM_THREADS)
};

/// Everything that an executor of the plan allocates, to a few megabytes: arena, data set, scratch.
[[nodiscard]] std::size_t bytesNeeded(const plan::StepPlan&);

/// What an executor allocates besides the arena: the data set, and scratch (decoded GEMM operands, partial sums).
[[nodiscard]] std::vector<plan::MemoryUse> memoryOutsideArena(const plan::StepPlan&);

/// Throws Error, with the bytes needed, those available and what to lower, when this machine cannot hold what an
/// executor of the plan takes. Control groups are respected.
void requireMemory(const plan::StepPlan&);

/// Same plan and seed give the same results, whatever the vector level. Allocates the plan's arena once, in the
/// constructor, which throws Error when the machine cannot hold it, with the bytes needed and what to lower.
class CpuExecutor {
public:
    explicit CpuExecutor(plan::StepPlan, const ExecutorOptions& = {});
    ~CpuExecutor();
    CpuExecutor(CpuExecutor&&) noexcept;
    CpuExecutor& operator=(CpuExecutor&&) noexcept;

    /// Runs every op of the plan once, on the next batch. Throws Error when the loss, an amax or the gradient norm is
    /// not finite (step and tensor named).
    StepResult runStep();

    /// Makes this executor's next step that of another, whose plan is of the same configuration: parameters and all
    /// else that lasts from step to step, as far as this plan has it, and the number of steps done.
    void copyState(const CpuExecutor&);

    [[nodiscard]] const plan::StepPlan& plan() const;
    /// What was allocated: "arena", then as memoryOutsideArena.
    [[nodiscard]] std::vector<plan::MemoryUse> allocated() const;
    /// A tensor's contents as floats (fp8 and bf16 decoded, scales not applied). For tests and checks. A tensor that
    /// shares its arena bytes with a later one holds that one's contents after a step; plans built with
    /// PlanOptions::keepTensors avoid that.
    [[nodiscard]] std::vector<float> read(plan::TensorId) const;
    void write(plan::TensorId, std::span<const float>);
    [[nodiscard]] std::span<std::byte> bytes(plan::TensorId);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// The vector level that kernels run at here: "avx512", "avx2" or "portable" (FP8SCOPE_SIMD lowers it).
[[nodiscard]] std::string vectorLevel();

/// The device row of this machine's CPU for a trace: name, cores, vector level, memory; peaks are left 0 (not
/// measured).
struct CpuInfo {
    std::string name, level;
    int cores = 0;
    std::uint64_t memoryBytes = 0;     ///< of the machine
    std::uint64_t availableBytes = 0;  ///< that a new process may use now (cgroup limits respected)
    bool nativeBf16 = false;
};
[[nodiscard]] CpuInfo cpuInfo();

}  // namespace fp8scope::cpu
