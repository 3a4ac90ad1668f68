// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/framework.h"

#include "app/analysis/classify/classify.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <vector>

namespace fp8scope::analysis {
namespace {

Framework of(const std::vector<const char*>& kernels, const std::vector<const char*>& frames = {})
{
    test::TraceBuilder builder;
    builder.run("rank 0", Origin::Imported).track("stream 7");
    std::int64_t t = 0;
    for (const char* kernel : kernels)
        builder.slice(t++, 1, kernel);
    builder.track("thread", TrackKind::CpuThread);
    for (const char* frame : frames)
        builder.slice(t++, 1, frame);
    Trace trace = builder.build();
    static const KernelClassifier classifier = KernelClassifier::builtIn();
    classify(trace, classifier);
    return detectFramework(trace, RunId(0));
}

constexpr const char* kFp8Gemm = "nvjet_qqtst_128x128_128x6_1x2_h_bz_TNT";
constexpr const char* kTeCast =
    "void transformer_engine::detail::cast_transpose_fused_kernel_notaligned<true, float>(P)";

TEST(FrameworkTest, TransformerEnginesRecipesAreToldByTheirKernels)
{
    const Framework delayed =
        of({kFp8Gemm, kTeCast,
            "void transformer_engine::delayed_scaling_recipe::amax_and_scale_update_impl::kernel_bulk(P)"});
    EXPECT_EQ(delayed.name, "Transformer Engine");
    EXPECT_EQ(delayed.recipe, "delayed");
    EXPECT_EQ(delayed.confidence, Confidence::Certain);
    EXPECT_EQ(describe(delayed), "Transformer Engine, delayed scaling (certain)");
    EXPECT_EQ(of({kFp8Gemm, kTeCast,
                  "void transformer_engine::(anonymous namespace)::compute_scale_from_amax_kernel(float const*)"})
                  .recipe,
              "tensorwise");
    EXPECT_EQ(of({kFp8Gemm,
                  "void transformer_engine::(anonymous namespace)::block_scaled_1d_cast_transpose_kernel<true, float, "
                  "__nv_bfloat16, __nv_fp8_e4m3>(P)"})
                  .recipe,
              "blockwise");
    EXPECT_EQ(of({"nvjet_sm100_qqtst_128x128_128x8_2x4_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT", kTeCast}).recipe,
              "mxfp8");
}

TEST(FrameworkTest, MegatronRunsTransformerEngineAndSpeaksBoth)
{
    const Framework f = of({kFp8Gemm, kTeCast}, {"megatron/core/transformer/mlp.py(90): forward"});
    EXPECT_EQ(f.name, "Megatron-LM");
    EXPECT_EQ(f.speaks, (std::vector<std::string>{"Megatron-LM", "Transformer Engine"}));
}

TEST(FrameworkTest, TorchaoIsToldByWhoCasts)
{
    const Framework tensorwise =
        of({kFp8Gemm, "triton_red_fused__to_copy_abs_max_view_0", "triton_poi_fused__to_copy_clamp_mul_reciprocal_2"});
    EXPECT_EQ(tensorwise.name, "torchao");
    EXPECT_TRUE(tensorwise.compiled);
    EXPECT_EQ(tensorwise.recipe, "tensorwise");
    const Framework rowwise = of({kFp8Gemm, "triton_per_fused__to_copy_abs_amax_clamp_mul_reciprocal_3"},
                                 {"torchao/float8/float8_linear.py(1): f"});
    EXPECT_EQ(rowwise.recipe, "rowwise");
    EXPECT_EQ(rowwise.confidence, Confidence::Certain);
    const Framework eager =
        of({kFp8Gemm, "void at::native::vectorized_elementwise_kernel<4, at::native::float8_copy_kernel_cuda(at::T&)::"
                      "{lambda(float)#1}, std::array<char*, 2ul> >(int)"});
    EXPECT_EQ(eager.name, "torchao");
    EXPECT_FALSE(eager.compiled);
}

TEST(FrameworkTest, ServersAndDeepSeeksLibrariesHaveNamesOfTheirOwn)
{
    EXPECT_EQ(of({"void vllm::act_and_mul_kernel<c10::BFloat16>(c10::BFloat16*)",
                  "void deep_gemm::sm90_fp8_gemm_1d2d_impl<1>(int)"})
                  .name,
              "vLLM");
    EXPECT_EQ(of({"void tensorrt_llm::kernels::fusedQKNormRopeKernel<128>(int)"}).name, "TensorRT-LLM");
    EXPECT_EQ(of({"void sglang::cross_device_reduce_2stage<int, 8>(int)"}).name, "SGLang");
    const Framework deepSeek =
        of({"void deep_ep::intranode::dispatch<1>(int)", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<1>(int)"});
    EXPECT_EQ(deepSeek.name, "DeepSeek");
    EXPECT_EQ(deepSeek.recipe, "blockwise");
}

TEST(FrameworkTest, PlainPyTorchAndNothing)
{
    const Framework plain =
        of({"nvjet_tst_128x128_64x4_1x2_h_bz_TNT", "void at::native::elementwise_kernel<128, 4, int>(int)"});
    EXPECT_EQ(plain.name, "PyTorch");
    EXPECT_FALSE(plain.usesFp8);
    EXPECT_TRUE(plain.recipe.empty());
    EXPECT_EQ(describe(of({"saxpy(float*)"})), "framework unknown");
}

TEST(FrameworkTest, ItsOwnOptionsComeFirst)
{
    Finding finding;
    finding.options = {{"torchao", "a"}, {"Transformer Engine", "b"}, {"Megatron-LM", "c"}};
    Framework megatron;
    megatron.speaks = {"Megatron-LM", "Transformer Engine"};
    putOwnOptionsFirst(finding, megatron);
    EXPECT_EQ(finding.options[0].framework, "Megatron-LM");
    EXPECT_EQ(finding.options[1].framework, "Transformer Engine");
    EXPECT_EQ(finding.options[2].framework, "torchao");
}

}  // namespace
}  // namespace fp8scope::analysis
