// SPDX-License-Identifier: Apache-2.0
#include "tests/support/profiled_loop.h"

#include <algorithm>
#include <array>
#include <random>

namespace fp8scope::test {
namespace {

constexpr std::uint32_t kComputeStream = 7;
constexpr std::uint32_t kCommStream = 20;
constexpr std::int64_t kLaunchNs = 6'000;
constexpr std::int64_t kQueueDelayNs = 4'000;

constexpr std::string_view kAmax = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, "
                                   "at::native::func_wrapper_t<c10::BFloat16, "
                                   "at::native::MaxNanFunctor<c10::BFloat16> >, unsigned int, c10::BFloat16, 4, 4> "
                                   ">(at::native::ReduceOp<c10::BFloat16, "
                                   "at::native::func_wrapper_t<c10::BFloat16, at::native::MaxNanFunctor<c10::BFloat16> "
                                   ">, unsigned int, c10::BFloat16, 4, 4>)";
constexpr std::string_view kCast =
    "void at::native::vectorized_elementwise_kernel<4, at::native::float8_copy_kernel_cuda(at::TensorIteratorBase&)::"
    "{lambda()#1}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, "
    "at::native::float8_copy_kernel_cuda(at::TensorIteratorBase&), std::array<char*, 2ul>)";
constexpr std::string_view kGemm = "nvjet_qqtst_128x256_128x6_2x1_v_bz_coopA_bias_TNT";
constexpr std::string_view kBackwardGemm = "nvjet_qqtst_128x128_128x6_2x1_v_bz_TNN";
constexpr std::string_view kGradGemm = "nvjet_qqsss_128x128_128x6_2x1_v_bz_splitK_TNT";
constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kOptimizer =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
    "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
    "(at::native::ADAM_MODE)1, false> >(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)";

/// What a launch puts on the device.
struct Job {
    NameKind kind = NameKind::Kernel;
    std::string_view name;
    std::string_view call = "cudaLaunchKernel";
    std::int64_t durNs = 10'000;
    std::uint32_t stream = kComputeStream;
    std::uint64_t bytes = 0;
    std::uint32_t grid = 256;
    std::uint32_t block = 128;
    std::uint32_t cluster = 0;
};

class LoopMaker {
public:
    explicit LoopMaker(const ProfiledLoopShape& shape)
        : m_shape(shape), m_random(shape.seed), m_now(shape.startNs), m_correlation(shape.firstCorrelation)
    {}

    ProfiledLoop make()
    {
        for (std::uint32_t step = 0; step < m_shape.steps; ++step)
            makeStep(step);
        return std::move(m_loop);
    }

private:
    std::int64_t grain(std::int64_t ns) const { return ns / m_shape.grainNs * m_shape.grainNs; }
    std::int64_t jittered(std::int64_t ns)
    {
        return std::max(grain(ns + ns * static_cast<int>(m_random() % 64) / 640), m_shape.grainNs);
    }
    void pass(std::int64_t ns) { m_now += jittered(ns); }

    void launch(const Job& job, ProfiledThread thread, std::uint64_t externalId)
    {
        const std::int64_t start = m_now;
        pass(kLaunchNs);
        const bool driver = job.call.starts_with("cu") && !job.call.starts_with("cuda");
        m_loop.calls.push_back({job.call, driver, start, m_now - start, thread, m_correlation, externalId});
        std::int64_t& free = job.stream == kCommStream ? m_commFree : m_computeFree;
        const std::int64_t begin = std::max(grain(start + kQueueDelayNs), free);
        ProfiledWork work{job.kind,   job.name,  begin, jittered(job.durNs), job.stream, m_correlation,
                          externalId, job.bytes, {}};
        free = work.startNs + work.durNs + m_shape.grainNs;
        if (job.kind == NameKind::Kernel)
            work.shape = {
                {job.grid, 1, 1}, {job.block, 1, 1}, {job.cluster, job.cluster != 0, job.cluster != 0}, 96, 1024,
                196'608};
        m_loop.work.push_back(work);
        ++m_correlation;
    }

    struct OpText {
        std::string_view name;
        std::string dims, types;
        std::int64_t sequence = -1;
    };
    void op(OpText text, ProfiledThread thread, std::initializer_list<Job> jobs)
    {
        const std::size_t at = m_loop.ops.size();
        m_loop.ops.push_back(
            {text.name, m_now, 0, thread, ++m_externalId, text.sequence, std::move(text.dims), std::move(text.types)});
        const std::uint64_t id = m_externalId;
        pass(1'000);
        for (const Job& job : jobs)
            launch(job, thread, id);
        pass(1'000);
        m_loop.ops[at].durNs = m_now - m_loop.ops[at].startNs;
    }

    void forward(std::uint32_t layer)
    {
        const std::size_t at = m_loop.ranges.size();
        m_loop.ranges.push_back({"layer" + std::to_string(layer), m_now, 0, true});
        pass(1'000);
        const std::string matrix = "[[4096, 2048]]";
        const std::string bf16 = R"(["c10::BFloat16"])";
        op({"aten::amax", matrix, bf16}, ProfiledThread::Main, {{.name = kAmax, .durNs = 9'000}});
        op({"aten::to", matrix, bf16}, ProfiledThread::Main, {{.name = kCast, .durNs = 12'000}});
        op({"aten::_scaled_mm", "[[4096, 2048], [2048, 2048], [], []]",
            R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float"])", layer + m_firstSequence},
           ProfiledThread::Main, {{.name = kGemm, .call = "cuLaunchKernelEx", .durNs = 45'000, .cluster = 2}});
        m_loop.ranges[at].durNs = m_now - m_loop.ranges[at].startNs;
    }

    void backward(std::uint32_t layer)
    {
        const std::int64_t sequence = layer + m_firstSequence;
        const std::string matrix = "[[4096, 2048]]";
        op({"aten::to", matrix, R"(["c10::BFloat16"])", sequence}, ProfiledThread::Backward,
           {{.name = kAmax, .durNs = 9'000}, {.name = kCast, .durNs = 12'000}});
        op({"aten::_scaled_mm", "[[4096, 2048], [2048, 2048], [], []]",
            R"(["c10::Float8_e5m2", "c10::Float8_e4m3fn", "float", "float"])", sequence},
           ProfiledThread::Backward,
           {{.name = kBackwardGemm, .call = "cuLaunchKernelEx", .durNs = 46'000, .cluster = 2}});
        op({"aten::_scaled_mm", "[[2048, 4096], [4096, 2048], [], []]",
            R"(["c10::Float8_e5m2", "c10::Float8_e4m3fn", "float", "float"])", sequence},
           ProfiledThread::Backward, {{.name = kGradGemm, .call = "cuLaunchKernelEx", .durNs = 50'000, .cluster = 2}});
    }

    void makeStep(std::uint32_t step)
    {
        const std::size_t at = m_loop.ranges.size();
        m_loop.ranges.push_back({"ProfilerStep#" + std::to_string(step), m_now, 0, false});
        op({"aten::copy_", "[[4096, 2048], [4096, 2048]]", R"(["c10::BFloat16", "c10::BFloat16"])"},
           ProfiledThread::Main,
           {{.kind = NameKind::Memcpy,
             .name = "Memcpy HtoD (Pinned -> Device)",
             .call = "cudaMemcpyAsync",
             .durNs = 20'000,
             .bytes = 16'777'216}});
        op({"aten::zero_", "[[4096]]", R"(["float"])"}, ProfiledThread::Main,
           {{.kind = NameKind::Memset,
             .name = "Memset (Device)",
             .call = "cudaMemsetAsync",
             .durNs = 1'000,
             .bytes = 16'384}});
        for (std::uint32_t layer = 0; layer < m_shape.layers; ++layer)
            forward(layer);
        for (std::uint32_t layer = m_shape.layers; layer-- > 0;)
            backward(layer);
        m_firstSequence += m_shape.layers;
        op({"c10d::allreduce_", "[[4194304]]", R"(["c10::BFloat16"])"}, ProfiledThread::Main,
           {{.name = kAllReduce, .durNs = 90'000, .stream = kCommStream, .grid = 24, .block = 544}});
        op({"aten::_fused_adamw_", "[[2048, 2048]]", R"(["float"])"}, ProfiledThread::Main,
           {{.name = kOptimizer, .durNs = 60'000}});
        // As cudaDeviceSynchronize would: the next step's launches follow the device.
        m_now = std::max({m_now, m_computeFree, m_commFree});
        pass(5'000);
        m_loop.ranges[at].durNs = m_now - m_loop.ranges[at].startNs;
        pass(3'000);
    }

    ProfiledLoopShape m_shape;
    std::mt19937_64 m_random;
    std::int64_t m_now;
    std::uint64_t m_correlation;
    std::uint64_t m_externalId = 0;
    std::int64_t m_firstSequence = 1;
    std::int64_t m_computeFree = 0;
    std::int64_t m_commFree = 0;
    ProfiledLoop m_loop;
};

}  // namespace

ProfiledLoop makeProfiledLoop(const ProfiledLoopShape& shape) { return LoopMaker(shape).make(); }

}  // namespace fp8scope::test
