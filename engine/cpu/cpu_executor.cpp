// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/cpu_executor.h"

#include "collector/trace/error.h"
#include "engine/cpu/gradient_norm.h"
#include "engine/cpu/initialization.h"
#include "engine/cpu/memory_limit.h"
#include "engine/cpu/op_context.h"
#include "engine/cpu/parallel_for.h"
#include "engine/cpu/quantization_quality.h"
#include "engine/cpu/usable_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace fp8scope::cpu {

using plan::Op;
using plan::OpKind;
using plan::StepPlan;
using plan::TensorId;

namespace {

std::int64_t nowNs() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// f32 elements of the partial column sums of the plan's largest bias gradient.
std::size_t columnPartialElements(const StepPlan& plan)
{
    std::int64_t most = 0;
    for (const Op& op : plan.ops)
        if (op.fused.contains(Role::BiasGrad) || op.role == Role::BiasGrad) {
            const plan::Tensor& dy = plan.tensor(op.inputs[0]);
            most = std::max(most, kernels::columnSumBlocks(dy.rows) * dy.cols);
        }
    return static_cast<std::size_t>(most);
}

ScaleValues scaleValues(const StepPlan& plan)
{
    return plan.recipe.powerOfTwo ? ScaleValues::PowersOfTwo : ScaleValues::Any;
}

kernels::ActivationKind activationKind(plan::Activation activation)
{
    return activation == plan::Activation::Gelu ? kernels::ActivationKind::Gelu : kernels::ActivationKind::Relu;
}

}  // namespace

std::size_t bytesNeeded(const StepPlan& plan)
{
    return plan.arenaBytes + Dataset::keptBytes(plan) + columnPartialElements(plan) * sizeof(float) +
           std::max(gemmScratchBytes(plan.ops, nativeGemmArithmetic(), scaleValues(plan)),
                    Dataset::teacherBytes(plan.config));
}

std::vector<plan::MemoryUse> memoryOutsideArena(const StepPlan& plan)
{
    return {{"data set", Dataset::keptBytes(plan)},
            {"scratch", columnPartialElements(plan) * sizeof(float) +
                            gemmScratchBytes(plan.ops, nativeGemmArithmetic(), scaleValues(plan))}};
}

void requireMemory(const StepPlan& plan)
{
    const std::size_t needed = bytesNeeded(plan);
    const std::uint64_t available = memoryState("/").availableBytes;
    if (needed > available)
        throw Error(fmt::format("the run needs {} bytes of memory ({:.1f} GiB), {} bytes ({:.1f} GiB) are available",
                                needed, static_cast<double>(needed) / (1U << 30U), available,
                                static_cast<double>(available) / (1U << 30U)),
                    fmt::format("mode {}", plan.settings.mode), "lower batch, widths or dataset_batches");
}

void noteQuantization(OpContext& ctx, const Op& op, const CastCounts& counts)
{
    if (op.quantized < 0)
        return;
    const auto index = static_cast<std::size_t>(op.quantized);
    QuantizationStat& stat = ctx.quantized[index];
    if (op.kind == OpKind::Clamp) {  // of the eager chain: ToFp8 follows with the rest
        stat.saturated = counts.saturated;
        return;
    }
    const plan::QuantizedTensor& tensor = ctx.plan->quantized[index];
    const std::span<const float> amaxes = ctx.arena->f32(tensor.amax), scales = ctx.arena->f32(tensor.scale);
    stat.amax = std::accumulate(amaxes.begin(), amaxes.end(), 0.0F, kernels::maxAmax);
    stat.scale = *std::min_element(scales.begin(), scales.end());
    stat.count = static_cast<std::uint64_t>(tensor.elements);
    if (op.kind != OpKind::ToFp8)
        stat.saturated = counts.saturated;
    stat.underflowed = counts.underflowed;
    stat.zeros = counts.zeros;
}

void noteBlockQuantization(OpContext& ctx, const Op& op, const kernels::CastResult& result, float scale)
{
    if (op.quantized < 0)
        return;
    const auto index = static_cast<std::size_t>(op.quantized);
    ctx.quantized[index] = {.amax = result.amax,
                            .scale = scale,
                            .count = static_cast<std::uint64_t>(ctx.plan->quantized[index].elements),
                            .saturated = result.counts.saturated,
                            .underflowed = result.counts.underflowed,
                            .zeros = result.counts.zeros};
}

struct CpuExecutor::Impl {
    /// Called under ThreadCount(threadsUsed).
    Impl(StepPlan planned, int threadsUsed)
        : plan(std::move(planned)), threads(threadsUsed), kernelTable(kernels::cpuKernels(vectorLevelHere())),
          arena((requireMemory(plan), plan)), gemms(kernelTable, nativeGemmArithmetic()), dataset(plan, kernelTable),
          quality(plan)
    {
        initializeParameters(plan, arena);
        ctx.plan = &plan;
        ctx.arena = &arena;
        ctx.kernels = &kernelTable;
        ctx.gemms = &gemms;
        ctx.dataset = &dataset;
        ctx.activation = kernels::makeActivation(activationKind(plan.config.activation));
        ctx.columnPartials.resize(columnPartialElements(plan));
        ctx.columnSums.resize(
            static_cast<std::size_t>(*std::max_element(plan.config.widths.begin(), plan.config.widths.end())));
        ctx.rowLoss.resize(static_cast<std::size_t>(plan.config.batch));
        ctx.quantized.resize(plan.quantized.size());
        castInitialWeights(ctx);
        ctx.gemmOfOp.resize(plan.ops.size());
        timings.resize(plan.ops.size());
        for (std::size_t i = 0; i < plan.ops.size(); ++i)
            if (plan.ops[i].gemm)
                ctx.gemmOfOp[i] = gemms.prepare(*plan.ops[i].gemm, scaleValues(plan));
    }

    StepResult runStep();
    void checkFinite(const Op&);
    void addGradients(const Op&);
    [[noreturn]] void refuse(std::string_view what, const std::string& tensor, double value) const;
    [[nodiscard]] TensorId firstNotFinite(std::initializer_list<TensorId>);
    void copyState(Impl& other);

    StepPlan plan;
    int threads;
    const kernels::CpuKernels& kernelTable;
    Arena arena;
    GemmRunner gemms;
    Dataset dataset;
    OpContext ctx;
    QualityProbe quality;
    double squaredGradients = 0;  ///< of the step so far
    std::vector<OpTiming> timings;
};

StepResult CpuExecutor::Impl::runStep()
{
    const ThreadCount forThisStep(threads);
    const std::int64_t libraryBefore = gemms.libraryNs();
    for (const auto& [index, stat] : std::exchange(ctx.castAhead, {}))
        ctx.quantized[index] = stat;
    const plan::NumericsConfig& numerics = plan.config.numerics;
    const bool sampled = numerics.every > 0 && ctx.step % numerics.every == 0;
    squaredGradients = 0;
    const std::int64_t begin = nowNs();
    for (std::uint32_t i = 0; i < plan.ops.size(); ++i) {
        const Op& op = plan.ops[i];
        if (op.role == Role::Optimizer && numerics.gradientNorm)
            addGradients(op);
        const std::int64_t opBegin = nowNs();
        opFunction(op.kind)(ctx, op);
        timings[i] = {.op = i, .startNs = opBegin, .durNs = nowNs() - opBegin};
        checkFinite(op);
        if (sampled)
            quality.afterOp(ctx, op);
    }
    StepResult result;
    result.loss = arena.f32(plan.loss)[0];
    result.startNs = begin;
    result.durNs = nowNs() - begin;
    result.gemmLibraryNs = gemms.libraryNs() - libraryBefore;
    result.ops = timings;
    result.quantized = ctx.quantized;
    if (sampled)
        result.quality = quality.results();
    if (numerics.gradientNorm)
        result.gradientNorm = std::sqrt(squaredGradients);
    ++ctx.step;
    return result;
}

/// A step whose loss or amax is not finite has ruined the weights: going on would only show NaN.
void CpuExecutor::Impl::checkFinite(const Op& op)
{
    if (op.kind == OpKind::Loss) {
        const float loss = ctx.arena->f32(plan.loss)[0];
        if (std::isfinite(loss))
            return;
        const TensorId cause = firstNotFinite({op.inputs[1], op.inputs[0]});  // target, then prediction
        refuse("loss", plan.tensor(cause.valid() ? cause : plan.loss).name, loss);
    } else if (op.quantized >= 0 && op.kind != OpKind::Clamp) {
        const auto index = static_cast<std::size_t>(op.quantized);
        if (!std::isfinite(ctx.quantized[index].amax))
            refuse("amax", plan.quantized[index].name, ctx.quantized[index].amax);
    }
}

/// Before the optimizer would write what is not finite into the weights.
void CpuExecutor::Impl::addGradients(const Op& op)
{
    squaredGradients += cpu::squaredGradients(ctx, op);
    if (!std::isfinite(squaredGradients)) {
        const TensorId gradient = notFiniteGradient(ctx, op);
        refuse("gradient norm", gradient.valid() ? plan.tensor(gradient).name : op.name, squaredGradients);
    }
}

void CpuExecutor::Impl::refuse(std::string_view what, const std::string& tensor, double value) const
{
    throw Error(fmt::format("the {} is {}", what, value),
                fmt::format("mode {}, step {}, tensor '{}'", plan.settings.mode, ctx.step, tensor),
                "lower optimizer.learning_rate, or change the seed or the widths");
}

TensorId CpuExecutor::Impl::firstNotFinite(std::initializer_list<TensorId> tensors)
{
    for (const TensorId id : tensors) {
        const std::vector<float> values = arena.read(id);
        if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
            return id;
    }
    return TensorId::none();
}

void CpuExecutor::Impl::copyState(Impl& other)
{
    std::unordered_map<std::string_view, std::uint32_t> theirs;
    for (std::uint32_t t = 0; t < other.plan.tensors.size(); ++t)
        if (other.plan.tensors[t].persistent)
            theirs.emplace(other.plan.tensors[t].name, t);
    for (std::uint32_t t = 0; t < plan.tensors.size(); ++t) {
        const auto found = plan.tensors[t].persistent ? theirs.find(plan.tensors[t].name) : theirs.end();
        if (found != theirs.end())
            std::ranges::copy(other.arena.bytes(TensorId(found->second)), arena.bytes(TensorId(t)).begin());
    }
    ctx.step = other.ctx.step;
}

CpuExecutor::CpuExecutor(StepPlan plan, const ExecutorOptions& options)
{
    const int threads = options.threads > 0 ? options.threads : std::min(usableCores(), maxThreads());
    const ThreadCount whileBuilding(threads);
    m_impl = std::make_unique<Impl>(std::move(plan), threads);
}
CpuExecutor::~CpuExecutor() = default;
CpuExecutor::CpuExecutor(CpuExecutor&&) noexcept = default;
CpuExecutor& CpuExecutor::operator=(CpuExecutor&&) noexcept = default;

StepResult CpuExecutor::runStep() { return m_impl->runStep(); }
void CpuExecutor::copyState(const CpuExecutor& other) { m_impl->copyState(*other.m_impl); }
const StepPlan& CpuExecutor::plan() const { return m_impl->plan; }
std::vector<plan::MemoryUse> CpuExecutor::allocated() const
{
    return {{"arena", m_impl->arena.size()},
            {"data set", m_impl->dataset.size()},
            {"scratch", m_impl->ctx.columnPartials.size() * sizeof(float) + m_impl->gemms.scratchBytes()}};
}
std::vector<float> CpuExecutor::read(TensorId id) const { return m_impl->arena.read(id); }
void CpuExecutor::write(TensorId id, std::span<const float> values) { m_impl->arena.write(id, values); }
std::span<std::byte> CpuExecutor::bytes(TensorId id) { return m_impl->arena.bytes(id); }

}  // namespace fp8scope::cpu
