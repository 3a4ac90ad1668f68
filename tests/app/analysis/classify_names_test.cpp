// SPDX-License-Identifier: Apache-2.0
// Names taken apart: spellings of different tools, cuBLASLt's grammar, GEMM type tokens, Inductor's fused names.
#include "app/analysis/classify/element_types.h"
#include "app/analysis/classify/inductor_name.h"
#include "app/analysis/classify/kernel_name.h"
#include "app/analysis/classify/nvjet_name.h"

#include <gtest/gtest.h>

namespace fp8scope::analysis {
namespace {

TEST(KernelNameTest, NsightsSpellingBecomesThePyTorchProfilers)
{
    const KernelName nsys(
        "void at::native::<unnamed>::f<(int)4, float, std::array<char *, (unsigned long)2>, (bool)1>(int, T2)");
    EXPECT_EQ(nsys.text(),
              "void at::native::(anonymous namespace)::f<4, float, std::array<char*, 2ul>, true>(int, T2)");
    EXPECT_EQ(nsys.function(), "at::native::(anonymous namespace)::f");
    const KernelName lambda(
        "void g<at::x(at::T &)::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)]>(T1)");
    EXPECT_EQ(lambda.text(), "void g<at::x(at::T&)::{lambda()#2}::operator()() const::{lambda(float)#1}>(T1)");
    EXPECT_EQ(KernelName("void h<a<b<int>>>(T1)").text(), "void h<a<b<int> > >(T1)");
    EXPECT_EQ(KernelName("void k<x::'lambda'(float), y::'lambda0'()>(int) [clone .kd]").text(),
              "void k<x::{lambda(float)#1}, y::{lambda()#2}>(int)");
    EXPECT_EQ(KernelName("rotary_fwd_kv_kernel.kd").text(), "rotary_fwd_kv_kernel");
}

TEST(KernelNameTest, FunctionIsFoundBehindReturnTypesAndComparisons)
{
    EXPECT_EQ(KernelName("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, 7>(P)").function(),
              "internal::gemvx::kernel");
    EXPECT_EQ(KernelName("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
                         "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)")
                  .function(),
              "vllm::fused_add_rms_norm_kernel");
    EXPECT_EQ(KernelName("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)")
                  .function(),
              "(anonymous namespace)::multimem_all_reduce_kernel");
    EXPECT_EQ(KernelName("Memcpy HtoD (Pinned -> Device)").function(), "Memcpy HtoD");
    EXPECT_EQ(KernelName("void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel<").function(),
              "cutlass::device_kernel");
}

TEST(KernelNameTest, MangledNamesAreDemangledAndCutOnesGiveTheirIdentifiers)
{
    EXPECT_EQ(KernelName("_ZN2at6native13reduce_kernelILi512EEEvi").function(), "at::native::reduce_kernel");
    EXPECT_EQ(KernelName("_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tup").text(),
              "cutlass::device_kernel::gemm::kernel::GemmUniversal::cute::tup");
    EXPECT_EQ(KernelName("_ZN3foo6kernelILj128ELi4EEEvT").text(), "foo::kernel");
    EXPECT_EQ(KernelName("_ZN").text(), "_ZN");
}

TEST(KernelNameTest, WordsComeFromSnakeAndCamelCase)
{
    EXPECT_EQ(KernelName("void moe::dev::routingIndicesKernel<int>(int)").words(), "moe dev routing indices kernel ");
    EXPECT_EQ(KernelName("fmhaSm100aKernel_QkvE4m3OBfloat16H64").words(),
              "fmha sm100a kernel qkv e4m3 o bfloat16 h64 ");
    EXPECT_EQ(KernelName("void cutlass::device_kernel<flash::FlashAttnBwd<int> >(flash::P)").words(),
              "cutlass device kernel flash flash attn bwd int ");
}

TEST(NvjetNameTest, EveryFieldIsRead)
{
    const auto n =
        parseNvjetName("nvjet_sm100_qqtst_128x192_128x6_4x1f_2cta_v_badd_splitK_Avec32UE8M0_Bvec32UE8M0_gelubias_NTT");
    ASSERT_TRUE(n);
    EXPECT_EQ(n->arch, "sm100");
    EXPECT_EQ(n->types, (GemmTypes{"e4m3", "e4m3", "bf16"}));
    EXPECT_EQ(n->tileM, 128);
    EXPECT_EQ(n->tileN, 192);
    EXPECT_EQ(n->tileK, 128);
    EXPECT_EQ(n->stages, 6);
    EXPECT_EQ(n->clusterM, 4);
    EXPECT_EQ(n->clusterN, 1);
    EXPECT_TRUE(n->twoSm);
    EXPECT_TRUE(n->accumulates);
    EXPECT_TRUE(n->splitK);
    EXPECT_EQ(n->scaling, NvjetScaling::Mxfp8);
    EXPECT_TRUE(n->epilogue.contains(Role::Bias));
    EXPECT_TRUE(n->epilogue.contains(Role::Activation));
    EXPECT_EQ(n->layouts, "NTT");
}

TEST(NvjetNameTest, TypeTagsAndScaleModes)
{
    const auto types = [](const char* name) { return parseNvjetName(name)->types; };
    EXPECT_EQ(types("nvjet_tss_128x256_64x4_2x1_v_badd_coopA_NTN"), (GemmTypes{"bf16", "bf16", "f32"}));
    EXPECT_EQ(types("nvjet_hsh_64x8_64x16_1x1_v_bz_NNT"), (GemmTypes{"f16", "f16", "f16"}));
    EXPECT_EQ(types("nvjet_rqtst_128x128_128x6_2x1_v_bz_TNN"), (GemmTypes{"e5m2", "e4m3", "bf16"}));
    EXPECT_EQ(types("nvjet_sss_tf32_128x256_TNT"), (GemmTypes{"tf32", "tf32", "f32"}));
    EXPECT_EQ(types("nvjet_ootst_128x256_256x5_2x1_v_bz_TNT"), (GemmTypes{"e2m1", "e2m1", "bf16"}));
    EXPECT_EQ(parseNvjetName("nvjet_qqtst_128x128_128x6_1x2_h_bz_TNT")->scaling, NvjetScaling::Tensorwise);
    EXPECT_EQ(parseNvjetName("nvjet_qqtst_128x128_128x6_1x2_h_bz_ovscale_TNT")->scaling, NvjetScaling::OuterVector);
    EXPECT_EQ(parseNvjetName("nvjet_qqtst_128x128_128x6_1x2_h_bz_Avec128_Bblk128_TNT")->scaling,
              NvjetScaling::Block128);
    EXPECT_EQ(parseNvjetName("nvjet_tst_128x128_64x6_1x2_h_bz_TNT")->scaling, NvjetScaling::None);
    EXPECT_FALSE(parseNvjetName("nvjet_"));
    EXPECT_FALSE(parseNvjetName("nvjet_xyz_128x128"));
}

struct TypeCase {
    const char* name;
    GemmTypes types;
};

class GemmTypesTest : public testing::TestWithParam<TypeCase> {};

TEST_P(GemmTypesTest, AreReadByTheLibrarysGrammar)
{
    const GemmTypes types = gemmTypes(KernelName(GetParam().name));
    EXPECT_EQ(types.a, GetParam().types.a);
    EXPECT_EQ(types.b, GetParam().types.b);
    EXPECT_EQ(types.d, GetParam().types.d);
}

INSTANTIATE_TEST_SUITE_P(
    Libraries, GemmTypesTest,
    testing::Values(
        TypeCase{"sm90_xmma_gemm_bf16f32_bf16f32_f32_tn_n_tilesize128x128x64_execute_kernel__5x_cublas",
                 {"bf16", "bf16", "f32"}},
        TypeCase{"sm89_xmma_gemm_e5m2e4m3bf16_e5m2e4m3f32_f32_tn_n_tilesize64x64x64_execute_kernel",
                 {"e5m2", "e4m3", "bf16"}},
        TypeCase{"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128",
                 {"tf32", "tf32", "f32"}},
        TypeCase{"cutlass3x_sm100_tensorop_s128x64x32gemm_e5m2_e4m3_f32_bf16_e5m2_128x64x128_0_ntn",
                 {"e5m2", "e4m3", "e5m2"}},
        TypeCase{"cutlass3x_sm100_bstensorop_s256x128x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_bf16_ue4m3xe2m1_"
                 "256x128x256_0",
                 {"e2m1", "e2m1", "e2m1"}},
        TypeCase{"cutlass3x_sm100_tensorop_i256x256x32gemm_s8_s8_s32_s8_s8_256x256x128_0_ttn",
                 {"int8", "int8", "int8"}},
        TypeCase{"cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_64x128x16_1x1x1_3_tnn", {"f32", "f32", "f32"}},
        TypeCase{
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>(T1::Params)",
            {"bf16", "bf16", "bf16"}},
        TypeCase{"ampere_s16816gemm_bf16_128x128_ldg8_stages_64x3_nn", {"bf16", "bf16", "f32"}},
        TypeCase{"cutlass_80_tensorop_s1688gemm_64x64_32x4_nt_align4", {"tf32", "tf32", "f32"}},
        TypeCase{"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", {"f16", "f16", "f16"}},
        TypeCase{"volta_sgemm_128x64_nn", {"f32", "f32", "f32"}},
        TypeCase{"ampere_dgemm_64x64_nn", {"f64", "f64", "f64"}},
        TypeCase{"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3", {"e2m1", "e4m3", "bf16"}},
        TypeCase{"bmm_E4m3_E4m3E4m3_Fp32_t128x8x128_s6", {"e4m3", "e4m3", "e4m3"}},
        TypeCase{"Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAV_UserArgs_MT288x256x128_MI16x16x1", {"e4m3", "e4m3", "bf16"}},
        TypeCase{"Cijk_Alik_Bljk_B8F8BS_BH_MT64x64x64", {"e5m2", "e4m3", "bf16"}},
        TypeCase{"Cijk_Ailk_Bljk_HHS_BH_MT64x64x64", {"f16", "f16", "f16"}},
        TypeCase{"Cijk_Ailk_Bjlk_SB_MT128x64x16", {"f32", "f32", "f32"}},
        TypeCase{"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", {"bf16", "e2m1", "bf16"}},
        TypeCase{"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u>(float*, __nv_bfloat16*)", {"e4m3", "e4m3", ""}},
        TypeCase{
            "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int>, "
            "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::Policy, cute::tuple<int>, cutlass::float_e4m3_t, "
            "cute::tuple<long>, cutlass::float_e5m2_t, cute::tuple<long> > > >(P)",
            {"e4m3", "e5m2", ""}}));

TEST(InductorNameTest, OpsAreFoundAmongUnderscores)
{
    const auto n = parseInductorName("triton_poi_fused__scaled_mm__to_copy_clamp_mul_reciprocal_t_view_4");
    ASSERT_TRUE(n);
    EXPECT_EQ(n->kind, "poi");
    EXPECT_EQ(n->ops, (std::set<std::string, std::less<>>{"_scaled_mm", "_to_copy", "clamp", "mul", "reciprocal", "t",
                                                          "view"}));
    EXPECT_FALSE(parseInductorName("triton__0d1d2d3d"));
    EXPECT_FALSE(parseInductorName("triton_red_other"));
}

TEST(InductorNameTest, RowwiseQuantizationIsOneKernelTensorwiseAreThree)
{
    const auto work = [](const char* name) { return workOf(*parseInductorName(name)); };
    EXPECT_EQ(work("triton_red_fused__to_copy_abs_max_view_0").role, Role::Amax);
    EXPECT_EQ(work("triton_per_fused__to_copy_abs_clamp_max_mul_reciprocal_1").role, Role::Scale);
    EXPECT_EQ(work("triton_poi_fused__to_copy_clamp_mul_reciprocal_2").role, Role::Cast);
    const InductorWork rowwise = work("triton_red_fused__to_copy_abs_amax_clamp_mul_reciprocal_3");
    EXPECT_EQ(rowwise.role, Role::Cast);
    EXPECT_TRUE(rowwise.fused.contains(Role::Amax));
}

}  // namespace
}  // namespace fp8scope::analysis
