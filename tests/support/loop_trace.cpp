// SPDX-License-Identifier: Apache-2.0
#include "tests/support/loop_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fp8scope::test {
namespace {

constexpr std::int64_t kBatch = 4096;
constexpr std::int64_t kWidth = 4096;

/// SplitMix64: the same numbers everywhere, unlike the standard library's distributions.
class Jitter {
public:
    explicit Jitter(std::uint64_t seed) : m_state(seed) {}

    /// Uniform in [0, 1).
    double uniform()
    {
        m_state += 0x9e3779b97f4a7c15;
        std::uint64_t z = m_state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    /// About normal around `mean`, with a deviation of `relative` of it.
    std::int64_t around(double mean, double relative = 0.01)
    {
        const double normal = (uniform() + uniform() + uniform() - 1.5) * 2;
        return std::max<std::int64_t>(1, std::llround(mean * (1 + relative * normal)));
    }

private:
    std::uint64_t m_state;
};

/// A kernel of the step's repeated sequence.
struct PlannedKernel {
    NameId name;
    OpId op;
    LaunchShapeId shape;
    double meanNs = 0;
    std::uint32_t layer = 0;
    bool endsLayer = false;  ///< of the backward pass: its gradients are then reduced
};

/// What one kernel is: its op's suffix, what it does, its name on the device and its cost.
struct Kind {
    const char* op;
    Role role;
    Phase phase;
    Precision precision;
    const char* kernel;
    double meanNs;
    RoleSet fused{};
};

RoleSet with(Role role)
{
    RoleSet set;
    set.insert(role);
    return set;
}

std::vector<Kind> forwardKinds(const std::string& mode)
{
    if (mode == "bf16")
        return {{"fwd.gemm", Role::Gemm, Phase::Forward, Precision::Bf16,
                 "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_bias_TNT", 196'000, with(Role::Bias)},
                {"fwd.act", Role::Activation, Phase::Forward, Precision::Bf16,
                 "void vectorized_elementwise_kernel<4, relu<bfloat16>>(int, relu<bfloat16>, array)", 38'000}};
    std::vector<Kind> kinds;
    if (mode == "fp8-fused") {
        kinds = {
            {"fwd.cast_x", Role::CastTranspose, Phase::Forward, Precision::Fp8,
             "void act_cast_transpose_kernel<bfloat16, fp8e4m3, 128>(bfloat16 const*, fp8e4m3*, fp8e4m3*, float "
             "const*)",
             31'000, with(Role::Activation)},
            {"fwd.cast_w", Role::CastTranspose, Phase::Forward, Precision::Fp8,
             "void cast_transpose_kernel<bfloat16, fp8e4m3, 128>(bfloat16 const*, fp8e4m3*, fp8e4m3*, float const*)",
             29'000}};
    } else {
        kinds = {
            {"fwd.amax_x", Role::Amax, Phase::Forward, Precision::Bf16,
             "void reduce_kernel<512, 1, AbsMaxOps<bfloat16>>(ReduceOp<bfloat16, AbsMaxOps<bfloat16>>)", 15'000},
            {"fwd.cast_x", Role::Cast, Phase::Forward, Precision::Fp8,
             "void elementwise_cast_kernel<bfloat16, fp8e4m3>(bfloat16 const*, fp8e4m3*, float const*, long)", 18'000},
            {"fwd.amax_w", Role::Amax, Phase::Forward, Precision::Bf16,
             "void reduce_kernel<512, 1, AbsMaxOps<bfloat16>>(ReduceOp<bfloat16, AbsMaxOps<bfloat16>>)", 15'000},
            {"fwd.cast_w", Role::Cast, Phase::Forward, Precision::Fp8,
             "void elementwise_cast_kernel<bfloat16, fp8e4m3>(bfloat16 const*, fp8e4m3*, float const*, long)", 18'000},
            {"fwd.transpose_x", Role::Transpose, Phase::Forward, Precision::Fp8,
             "void transpose_kernel<unsigned char, 32>(unsigned char const*, unsigned char*, int, int)", 14'000}};
    }
    kinds.push_back({"fwd.gemm", Role::Gemm, Phase::Forward, Precision::Fp8, "nvjet_qqtst_128x256_128x4_2x1_v_bz_TNT",
                     104'000, mode == "fp8-fused" ? with(Role::Bias) : RoleSet{}});
    if (mode != "fp8-fused") {
        kinds.push_back({"fwd.bias", Role::Bias, Phase::Forward, Precision::Bf16,
                         "void vectorized_elementwise_kernel<4, add<bfloat16>>(int, add<bfloat16>, array)", 39'000});
        kinds.push_back({"fwd.act", Role::Activation, Phase::Forward, Precision::Bf16,
                         "void vectorized_elementwise_kernel<4, relu<bfloat16>>(int, relu<bfloat16>, array)", 38'000});
    }
    return kinds;
}

std::vector<Kind> backwardKinds(const std::string& mode)
{
    const bool fp8 = mode != "bf16";
    const Precision gemm = fp8 ? Precision::Fp8 : Precision::Bf16;
    const char* const gemmName =
        fp8 ? "nvjet_qqtst_256x128_128x4_2x1_v_bz_TNN" : "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT";
    const double gemmNs = fp8 ? 107'000 : 201'000;
    std::vector<Kind> kinds{{"bwd.act_grad", Role::ActivationGrad, Phase::Dgrad, Precision::Bf16,
                             "void vectorized_elementwise_kernel<4, threshold_backward<bfloat16>>(int, array)",
                             55'000}};
    if (mode == "fp8-fused") {
        kinds.push_back(
            {"bwd.cast_dy", Role::CastTranspose, Phase::Dgrad, Precision::Fp8,
             "void cast_transpose_dbias_kernel<bfloat16, fp8e5m2, 128>(bfloat16 const*, fp8e5m2*, fp8e5m2*, float*)",
             33'000, with(Role::BiasGrad)});
    } else {
        kinds.push_back({"bwd.bias_grad", Role::BiasGrad, Phase::Wgrad, Precision::Bf16,
                         "void reduce_kernel<128, 4, SumOps<bfloat16>>(ReduceOp<bfloat16, SumOps<bfloat16>>)", 21'000});
    }
    if (mode == "fp8") {
        kinds.push_back({"bwd.amax_dy", Role::Amax, Phase::Dgrad, Precision::Bf16,
                         "void reduce_kernel<512, 1, AbsMaxOps<bfloat16>>(ReduceOp<bfloat16, AbsMaxOps<bfloat16>>)",
                         15'000});
        kinds.push_back(
            {"bwd.cast_dy", Role::Cast, Phase::Dgrad, Precision::Fp8,
             "void elementwise_cast_kernel<bfloat16, fp8e5m2>(bfloat16 const*, fp8e5m2*, float const*, long)", 18'000});
        kinds.push_back({"bwd.transpose_dy", Role::Transpose, Phase::Wgrad, Precision::Fp8,
                         "void transpose_kernel<unsigned char, 32>(unsigned char const*, unsigned char*, int, int)",
                         14'000});
    }
    kinds.push_back({"bwd.dgrad", Role::Gemm, Phase::Dgrad, gemm, gemmName, gemmNs});
    kinds.push_back({"bwd.wgrad", Role::Gemm, Phase::Wgrad, gemm, gemmName, gemmNs});
    return kinds;
}

/// Makes one run after another into one trace.
class LoopMaker {
public:
    explicit LoopMaker(const LoopTraceShape& shape) : m_shape(shape), m_jitter(shape.seed) {}

    Trace make();

private:
    /// The tracks of the current run.
    struct Tracks {
        std::size_t compute, copies, comm, launcher, loader, steps, clock;
    };

    void startRun(const std::string& mode);
    void planStep(const std::string& mode);
    void planKernel(const Kind& kind, std::uint32_t layer, bool endsLayer);
    void runStep(std::uint32_t index);
    void copyBatch();
    void launch(const PlannedKernel& kernel);
    void reduceGradients();
    void endRange(std::int64_t startNs, NameId name, OpId op);
    std::size_t addTrack(const std::string& name, TrackKind kind);
    NameId name(const char* text, NameKind kind, Role role, Precision precision = Precision::Unknown,
                RoleSet fused = {}, const char* library = "");
    LaunchShapeId launchShape(std::uint32_t grid, std::uint32_t block);
    void add(std::size_t track, std::int64_t startNs, std::int64_t durNs, NameId name, OpId op = OpId::none(),
             std::uint64_t correlation = 0, LaunchShapeId shape = {}, std::uint64_t bytes = 0);
    [[nodiscard]] std::size_t slicesPerStep() const;

    LoopTraceShape m_shape;
    Jitter m_jitter;
    Trace m_trace;
    Tracks m_tracks{};
    RunId m_run;
    std::vector<PlannedKernel> m_kernels;
    std::int64_t m_cpuNs = 0;  ///< the launching thread's clock
    std::int64_t m_queueFreeNs = 0;
    std::int64_t m_copyFreeNs = 0;
    std::int64_t m_commFreeNs = 0;
    std::uint64_t m_correlation = 0;
};

Trace LoopMaker::make()
{
    m_trace.meta = {{"host", "generated"}, {"tool", "loop_trace"}};
    m_trace.processes.push_back({4711, "python", "generated", 0});
    m_trace.devices.push_back({.name = "generated GPU",
                               .kind = "gpu",
                               .arch = "sm_90",
                               .units = 132,
                               .peakFp8 = 1979e12,
                               .peak16 = 989e12,
                               .peak32 = 67e12,
                               .peakBandwidth = 3.35e12,
                               .memoryBytes = std::uint64_t{80} << 30,
                               .hasFp8 = true});
    for (const std::string& mode : m_shape.modes) {
        startRun(mode);
        planStep(mode);
        const std::size_t steps = std::max<std::size_t>(1, m_shape.slices / m_shape.modes.size() / slicesPerStep());
        for (std::uint32_t step = 0; step < steps; ++step)
            runStep(step);
        m_trace.runs.back().endNs = m_queueFreeNs;
        m_cpuNs = m_queueFreeNs + 20'000'000;
    }
    finishTracks(m_trace);
    return std::move(m_trace);
}

std::size_t LoopMaker::slicesPerStep() const { return 2 * m_kernels.size() + 3 * m_shape.layers + 8; }

void LoopMaker::startRun(const std::string& mode)
{
    m_run = RunId(static_cast<std::uint32_t>(m_trace.runs.size()));
    m_trace.runs.push_back(
        {.mode = mode, .origin = Origin::MeasuredGpu, .tool = "loop_trace", .startNs = m_cpuNs, .complete = true});
    m_tracks = {addTrack("stream 7", TrackKind::DeviceQueue),  addTrack("stream 13", TrackKind::DeviceQueue),
                addTrack("stream 20", TrackKind::DeviceQueue), addTrack("main", TrackKind::CpuThread),
                addTrack("loader", TrackKind::CpuThread),      addTrack("steps", TrackKind::Annotation),
                addTrack("SM clock, MHz", TrackKind::Counter)};
    m_trace.memory.push_back({m_run, "weights", std::uint64_t{m_shape.layers} * kWidth * kWidth * 2});
    m_trace.memory.push_back({m_run, "activations", std::uint64_t{m_shape.layers} * kWidth * kBatch * 2});
    m_queueFreeNs = m_copyFreeNs = m_commFreeNs = m_cpuNs;
}

std::size_t LoopMaker::addTrack(const std::string& trackName, TrackKind kind)
{
    Track track;
    track.run = m_run;
    track.process = ProcessId(0);
    track.device = kind == TrackKind::DeviceQueue ? DeviceId(0) : DeviceId::none();
    track.kind = kind;
    track.name = trackName;
    m_trace.tracks.push_back(std::move(track));
    return m_trace.tracks.size() - 1;
}

NameId LoopMaker::name(const char* text, NameKind kind, Role role, Precision precision, RoleSet fused,
                       const char* library)
{
    const Name wanted{text, kind, role, fused, precision, library};
    for (std::uint32_t i = 0; i < m_trace.names.size(); ++i) {
        const Name& n = m_trace.names[i];
        if (n.text == wanted.text && n.kind == kind && n.role == role && n.precision == precision && n.fused == fused)
            return NameId(i);
    }
    m_trace.names.push_back(wanted);
    return NameId(static_cast<std::uint32_t>(m_trace.names.size() - 1));
}

LaunchShapeId LoopMaker::launchShape(std::uint32_t grid, std::uint32_t block)
{
    const LaunchShape wanted{.grid = {grid, 1, 1},
                             .block = {block, 1, 1},
                             .registers = block == 384 ? 168U : 32U,
                             .dynamicShared = block == 384 ? 229'376U : 0U};
    const auto found = std::find(m_trace.launchShapes.begin(), m_trace.launchShapes.end(), wanted);
    const auto index = static_cast<std::uint32_t>(found - m_trace.launchShapes.begin());
    if (found == m_trace.launchShapes.end())
        m_trace.launchShapes.push_back(wanted);
    return LaunchShapeId(index);
}

void LoopMaker::planKernel(const Kind& kind, std::uint32_t layer, bool endsLayer)
{
    const bool gemm = kind.role == Role::Gemm;
    const auto layerId = LayerId(static_cast<std::uint32_t>(m_trace.layers.size()) - m_shape.layers + layer);
    TraceOp op{.run = m_run,
               .index = static_cast<std::uint32_t>(m_kernels.size()),
               .layer = layerId,
               .name = "layer" + std::to_string(layer) + "." + kind.op,
               .phase = kind.phase,
               .role = kind.role,
               .fused = kind.fused,
               .m = kBatch,
               .n = kWidth,
               .k = gemm ? kWidth : 0};
    op.aType = op.bType = kind.precision == Precision::Fp8 ? "e4m3" : "bf16";
    op.dType = "bf16";
    op.flops = gemm ? 2.0 * kBatch * kWidth * kWidth : 1.0 * kBatch * kWidth;
    op.bytes = static_cast<std::uint64_t>(kBatch * kWidth) * 4;
    m_trace.ops.push_back(op);
    const LaunchShapeId shape = gemm ? launchShape(132, 384) : launchShape(16'384 + 128 * layer, 512);
    m_kernels.push_back(
        {name(kind.kernel, NameKind::Kernel, kind.role, kind.precision, kind.fused, gemm ? "cuBLAS" : ""),
         OpId(static_cast<std::uint32_t>(m_trace.ops.size() - 1)), shape, kind.meanNs * (1 + 0.02 * layer), layer,
         endsLayer});
}

void LoopMaker::planStep(const std::string& mode)
{
    m_kernels.clear();
    for (std::uint32_t layer = 0; layer < m_shape.layers; ++layer)
        m_trace.layers.push_back(
            {m_run, layer, "layer" + std::to_string(layer), kWidth, kWidth, mode == "bf16" ? "bf16" : "fp8"});
    for (std::uint32_t layer = 0; layer < m_shape.layers; ++layer) {
        for (const Kind& kind : forwardKinds(mode))
            planKernel(kind, layer, false);
    }
    const Kind loss{"loss",
                    Role::Loss,
                    Phase::Forward,
                    Precision::Fp32,
                    "void mse_loss_backward_kernel<float>(float const*, float*)",
                    26'000};
    planKernel(loss, m_shape.layers - 1, false);
    for (std::uint32_t layer = m_shape.layers; layer-- > 0;) {
        const std::vector<Kind> kinds = backwardKinds(mode);
        for (std::size_t i = 0; i < kinds.size(); ++i)
            planKernel(kinds[i], layer, i + 1 == kinds.size());
    }
    const Kind update{
        "optimizer",
        Role::Optimizer,
        Phase::Optimizer,
        Precision::Fp32,
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdamMathFunctor<float, 4>>(int, float)",
        92'000};
    for (std::uint32_t layer = 0; layer < m_shape.layers; ++layer)
        planKernel(update, layer, false);
}

void LoopMaker::add(std::size_t track, std::int64_t startNs, std::int64_t durNs, NameId sliceName, OpId op,
                    std::uint64_t correlation, LaunchShapeId shape, std::uint64_t bytes)
{
    SliceColumns& s = m_trace.tracks[track].slices;
    s.startNs.push_back(startNs);
    s.durNs.push_back(durNs);
    s.name.push_back(sliceName);
    s.op.push_back(op);
    if (track != m_tracks.steps && track != m_tracks.loader)
        s.correlation.push_back(correlation);
    if (track == m_tracks.compute)
        s.launchShape.push_back(shape);
    if (track == m_tracks.copies)
        s.bytes.push_back(bytes);
}

/// One launch on the CPU and its kernel. One kernel in 61 starts before the one before it has ended, as with
/// programmatic launch.
void LoopMaker::launch(const PlannedKernel& kernel)
{
    const std::int64_t callNs = m_jitter.around(4'200, 0.15);
    const std::uint64_t correlation = ++m_correlation;
    add(m_tracks.launcher, m_cpuNs, callNs, name("cudaLaunchKernelExC", NameKind::Api, Role::Other), OpId::none(),
        correlation);
    const std::int64_t gap = correlation % 61 == 0 ? -m_jitter.around(700) : m_jitter.around(1'100, 0.2);
    const std::int64_t start = std::max(m_cpuNs + callNs + 1'500, m_queueFreeNs + gap);
    const std::int64_t duration = m_jitter.around(kernel.meanNs);
    add(m_tracks.compute, start, duration, kernel.name, kernel.op, correlation, kernel.shape);
    m_queueFreeNs = std::max(m_queueFreeNs, start + duration);
    m_cpuNs += callNs + m_jitter.around(2'600, 0.3);
}

void LoopMaker::copyBatch()
{
    const NameId copy = name("Memcpy HtoD (Pinned -> Device)", NameKind::Memcpy, Role::Memcpy);
    for (const std::uint64_t bytes : {std::uint64_t{kBatch * kWidth * 2}, std::uint64_t{kBatch * 8}}) {
        const std::int64_t callNs = m_jitter.around(6'000, 0.2);
        add(m_tracks.launcher, m_cpuNs, callNs, name("cudaMemcpyAsync", NameKind::Api, Role::Other), OpId::none(),
            ++m_correlation);
        const std::int64_t start = std::max(m_cpuNs + callNs + 1'000, m_copyFreeNs + m_jitter.around(900));
        const std::int64_t duration = m_jitter.around(1'500 + static_cast<double>(bytes) / 24, 0.03);
        add(m_tracks.copies, start, duration, copy, OpId::none(), m_correlation, {}, bytes);
        m_copyFreeNs = start + duration;
        m_cpuNs += callNs + 800;
        add(m_tracks.loader, m_cpuNs + 100'000, m_jitter.around(350'000, 0.1),
            name("collate", NameKind::Range, Role::Other));
        m_cpuNs += 400;
    }
}

void LoopMaker::reduceGradients()
{
    const NameId reduce = name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                               NameKind::Kernel, Role::Comm, Precision::Bf16, {}, "NCCL");
    const std::int64_t start = std::max(m_queueFreeNs, m_commFreeNs + 1'500);
    const std::int64_t duration = m_jitter.around(160'000, 0.04);
    add(m_tracks.comm, start, duration, reduce, OpId::none(), ++m_correlation);
    m_commFreeNs = start + duration;
}

void LoopMaker::endRange(std::int64_t startNs, NameId rangeName, OpId op)
{
    add(m_tracks.launcher, startNs, m_cpuNs - startNs, rangeName, op);
}

void LoopMaker::runStep(std::uint32_t index)
{
    const std::int64_t stepStart = std::max(m_cpuNs, m_queueFreeNs - 3'000'000);  // the CPU runs ahead, but not far
    m_cpuNs = stepStart;
    const std::int64_t firstKernel = std::max(m_queueFreeNs, stepStart);
    copyBatch();
    std::size_t i = 0;
    while (i <
           m_kernels.size()) {  // one range around the launches of a layer, opened before them, recorded when it ends
        const std::int64_t rangeStart = m_cpuNs - 500;
        const std::uint32_t layer = m_kernels[i].layer;
        const OpId op = m_kernels[i].op;
        for (; i < m_kernels.size() && m_kernels[i].layer == layer; ++i) {
            launch(m_kernels[i]);
            if (m_kernels[i].endsLayer)
                reduceGradients();
        }
        endRange(rangeStart, name("aten::linear", NameKind::Op, Role::Other), op);
    }
    m_queueFreeNs = std::max(m_queueFreeNs, m_commFreeNs);
    const std::int64_t duration = m_queueFreeNs - firstKernel;
    add(m_tracks.steps, firstKernel, duration, name("step", NameKind::Step, Role::Other));
    const bool warmup = index < m_shape.warmupSteps;
    m_trace.steps.push_back(
        {m_run, index, firstKernel, duration, warmup, 0.7 * std::exp(-0.02 * index) + 0.01 * m_jitter.uniform()});
    m_trace.samples.push_back(
        {TrackId(static_cast<std::uint32_t>(m_tracks.clock)), firstKernel, 1'700 + 50 * m_jitter.uniform()});
}

}  // namespace

Trace makeLoopTrace(const LoopTraceShape& shape) { return LoopMaker(shape).make(); }

}  // namespace fp8scope::test
