// SPDX-License-Identifier: Apache-2.0
// Kernel names that have misled public tools, numbered as in the list of 26 that this project keeps. Trap 25 is about
// launches and not names: the importer's tests hold it.
#include "app/analysis/classify/kernel_classifier.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {
namespace {

const KernelClassifier& builtIn()
{
    static const KernelClassifier classifier = KernelClassifier::builtIn();
    return classifier;
}

KernelClass of(std::string_view name, NameContext context = NameContext::Any)
{
    return builtIn().classify(name, context);
}

Role role(std::string_view name) { return of(name).role; }

TEST(ClassifierTrapTest, T01_ScaledMmInAFusedNameIsNoGemmUnlessItIsATemplate)
{
    EXPECT_EQ(role("triton_poi_fused__scaled_mm__to_copy_clamp_div_5"), Role::Cast);
    EXPECT_EQ(role("triton_poi_fused__scaled_mm_mul_7"), Role::Scale);
    const KernelClass gemm = of("triton_tem_fused__scaled_mm_2");
    EXPECT_EQ(gemm.role, Role::Gemm);
    EXPECT_EQ(gemm.precision, Precision::Fp8);
}

TEST(ClassifierTrapTest, T02_AnAbsorbedOpsNameIsNoProof)
{
    const KernelClass act = of("triton_poi_fused_dynamic_per_token_scaled_fp8_quant_mul_silu_split_1");
    EXPECT_EQ(act.role, Role::Activation);
    EXPECT_FALSE(act.fused.contains(Role::Cast));
    EXPECT_EQ(role("triton_poi_fused__scaled_dot_product_flash_attention_add_9"), Role::Elementwise);
    EXPECT_EQ(role("triton_tem_fused__fused_rms_norm_flex_attention_3"), Role::Attention);
}

TEST(ClassifierTrapTest, T03_TheLastAmaxStageIsAScaleUpdate)
{
    EXPECT_EQ(role("triton_per_fused__to_copy_abs_clamp_max_mul_reciprocal_12"), Role::Scale);
}

TEST(ClassifierTrapTest, T04_ViewsMoveNothing)
{
    EXPECT_EQ(role("triton_poi_fused_add_permute_transpose_view_3"), Role::Elementwise);
    EXPECT_EQ(role("triton_poi_fused_clone_transpose_3"), Role::Copy);
}

TEST(ClassifierTrapTest, T05_Fp8InAttentionsNameIsNoGemmAndNoQuantization)
{
    EXPECT_EQ(role("fmhaSm100fKernel_QkvE4m3OE4m3H128PagedKvCausalP32VarSeqQ128Kv128StaticContext"), Role::Attention);
    EXPECT_EQ(role("void flash::flash_fwd_splitkv_mla_fp8_kernel<Traits, 1>(Flash_fwd_mla_params)"), Role::Attention);
    const KernelClass cache = of(
        "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(long)");
    EXPECT_EQ(cache.role, Role::Copy);
    EXPECT_EQ(cache.precision, Precision::Bf16);  // 0 is "auto": not fp8
    EXPECT_EQ(role("void vllm::paged_attention_v2_kernel<__nv_bfloat16, 128, 16, (vllm::Fp8KVCacheDataType)0>(float*)"),
              Role::Attention);
}

TEST(ClassifierTrapTest, T06_Ue4m3IsTheScaleTypeOfFp4)
{
    EXPECT_EQ(of("nvjet_sm100_ootst_256x256_256x4_2x1_2cta_v_bz_Avec16UE4M3_Bvec16UE4M3_TNT").precision,
              Precision::Fp4);
    EXPECT_EQ(
        of("cutlass3x_sm100_bstensorop_s256x256x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_f16_f16_256x256x256_0_tnn")
            .precision,
        Precision::Fp4);
}

TEST(ClassifierTrapTest, T07_Fp8CollectivesAreCommunication)
{
    EXPECT_EQ(role("ncclDevKernel_ReduceScatter_Sum_fp8_e4m3_RING_LL(ncclDevKernelArgsStorage<4096ul>)"), Role::Comm);
    EXPECT_EQ(role("void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop_stride_fp8<4, __nv_fp8_e4m3>(int, int)"),
              Role::Comm);
}

TEST(ClassifierTrapTest, T08_ReduceInACollectivesNameIsNoReduction)
{
    EXPECT_EQ(role("void (anonymous namespace)::multimem_one_shot_all_reduce_kernel<c10::BFloat16, 8>(c10::BFloat16*)"),
              Role::Comm);
    EXPECT_EQ(role("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, int)"), Role::Comm);
    EXPECT_EQ(role("ncclDevKernel_Reduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long)"), Role::Comm);
}

TEST(ClassifierTrapTest, T09_SplitKReduceIsPartOfAGemm)
{
    EXPECT_EQ(role("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>(P, float const*)"),
              Role::Gemm);
}

TEST(ClassifierTrapTest, T10_UnfusedEpiloguesAreBiasOrItsGradient)
{
    EXPECT_EQ(
        role("void cublasLt::epilogue::impl::globalKernel<8, 32, __nv_bfloat16, float, float, true, false, 1>(int)"),
        Role::Bias);
    EXPECT_EQ(role("void epilogue::impl::globalKernel<float, float, float, true, false>(int, int, long)"), Role::Bias);
    EXPECT_EQ(role("void cublasLt::epilogue::impl::globalKernelBgradAB_v2<8, 64, float, float, float>(int)"),
              Role::BiasGrad);
}

TEST(ClassifierTrapTest, T11_NamesNeedNotBeginWithVoid)
{
    EXPECT_EQ(role("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __half, __half, float>(P)"),
              Role::Gemm);
    EXPECT_EQ(role("std::enable_if<(((0)>(0)))&&vllm::_typeConvert<c10::Half>::exists, void>::type "
                   "vllm::fused_add_rms_norm_kernel<c10::Half, 0>(c10::Half*)"),
              Role::Norm);
}

TEST(ClassifierTrapTest, T12_ReluInCutlass2sNamesIsATemplatesChoice)
{
    const KernelClass gemm =
        of("void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64_64x6_nn_align8>(P)");
    EXPECT_EQ(gemm.role, Role::Gemm);
    EXPECT_FALSE(gemm.fused.contains(Role::Activation));
    EXPECT_EQ(gemm.precision, Precision::Fp16);
}

TEST(ClassifierTrapTest, T13_FusedGradientsDoNotMakeAGemmSomethingElse)
{
    for (const char* name :
         {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bgradb_bf16_64x64_64x5_nt_align8>(P)",
          "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_dgelu_bf16_64x64_64x5_nt_align8>(P)",
          "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize64x64x64_aux_bool_drelu_execute_kernel__5x_cublas"}) {
        EXPECT_EQ(of(name).role, Role::Gemm) << name;
        EXPECT_EQ(of(name).precision, Precision::Bf16) << name;
    }
}

TEST(ClassifierTrapTest, T14_TheOperandsTypeStandsBehindTheInstruction)
{
    EXPECT_EQ(of("ampere_s16816gemm_bf16_64x64_sliced1x2_ldg8_stages_64x5_tn").types,
              (GemmTypes{"bf16", "bf16", "f32"}));
    EXPECT_EQ(of("ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn").types,
              (GemmTypes{"bf16", "bf16", "bf16"}));
    EXPECT_EQ(of("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x128_16x6_nt_align4>(P)").precision,
              Precision::Fp32);
}

TEST(ClassifierTrapTest, T15_DeviceKernelIsWhatItWraps)
{
    EXPECT_EQ(role("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<int> > >(P)"),
              Role::Attention);
    EXPECT_EQ(role("void "
                   "cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm10x<cutlass::gemm::kernel::"
                   "GemmUniversal<int> > >(P)"),
              Role::Gemm);
    EXPECT_EQ(role("kernel_cutlass_kernel_quackrmsnormRMSNorm_object_at_tensorptrbf16gmem_0"), Role::Norm);
    EXPECT_EQ(role("kernel_cutlass_kernel_flashinferquantizationMXFP8QuantizeLinear_0"), Role::Cast);
    EXPECT_EQ(role("void cutlass::device_kernel<flat::kernel::FlatKernelTmaWarpSpecializedDeltaRule<int> >(P)"),
              Role::Attention);
}

TEST(ClassifierTrapTest, T16_MultiTensorApplyIsItsFunctor)
{
    EXPECT_EQ(role("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                   "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
                   "namespace)::FusedAdamMathFunctor<float, 4>>(T)"),
              Role::Optimizer);
    EXPECT_EQ(role("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<M<2>, at::native::(anonymous "
                   "namespace)::Copy<float, c10::BFloat16>>(T)"),
              Role::Copy);
    const char* inf = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<M<1>, at::native::(anonymous "
                      "namespace)::LpNormFunctor<c10::BFloat16, (at::native::NormType)2, float>>(T)";
    EXPECT_EQ(of(inf, NameContext::Fp8).role, Role::Amax);
    EXPECT_EQ(of(inf, NameContext::Any).role, Role::Optimizer);
}

TEST(ClassifierTrapTest, T17_MaxIsTheAmaxOnlyBesideFp8)
{
    const char* max =
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
        "at::native::MaxNanFunctor<float> >, unsigned int, float, 4> >(R)";
    EXPECT_EQ(of(max, NameContext::Any).role, Role::Reduce);
    EXPECT_EQ(of(max, NameContext::Fp8).role, Role::Amax);
    EXPECT_EQ(of("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float> "
                 "> >(R)",
                 NameContext::Fp8)
                  .role,
              Role::Reduce);
    const std::array<std::string_view, 2> together{max, "nvjet_qqtst_128x128_128x6_1x2_h_bz_TNT"};
    EXPECT_EQ(builtIn().classify(together)[0].role, Role::Amax);
}

TEST(ClassifierTrapTest, T18_OnlyTheCopyToFloat8IsACast)
{
    EXPECT_EQ(role("void at::native::vectorized_elementwise_kernel<4, "
                   "at::native::float8_copy_kernel_cuda(at::TensorIteratorBase&)::"
                   "{lambda(float)#1}, std::array<char*, 2ul> >(int)"),
              Role::Cast);
    EXPECT_EQ(role("void at::native::vectorized_elementwise_kernel<4, "
                   "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
                   "{lambda(float)#1}, std::array<char*, 2ul> >(int)"),
              Role::Copy);
    const char* bytes = "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
                        "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() "
                        "const::{lambda(unsigned char)#1}> >(int)";
    EXPECT_EQ(of(bytes, NameContext::Any).role, Role::Copy);
    EXPECT_EQ(of(bytes, NameContext::Fp8).role, Role::Transpose);
}

TEST(ClassifierTrapTest, T19_TransformerEnginesNames)
{
    const KernelClass cast =
        of("void transformer_engine::unary_kernel<8, true, float, transformer_engine::detail::Empty, "
           "&transformer_engine::detail::identity, float, __nv_fp8_e5m2>(float const*)");
    EXPECT_EQ(cast.role, Role::Cast);
    EXPECT_EQ(cast.precision, Precision::Fp8);
    EXPECT_EQ(role("void transformer_engine::delayed_scaling_recipe::amax_and_scale_update_impl::kernel_bulk(P)"),
              Role::Scale);
    EXPECT_EQ(
        of("void transformer_engine::(anonymous namespace)::block_scaled_1d_cast_transpose_kernel<true, float, float, "
           "__nv_fp8_e4m3>(float const*)")
            .precision,
        Precision::Fp8);
    EXPECT_EQ(
        of("void transformer_engine::quantize_transpose_nvfp4::block_scaled_1d_cast_transpose_kernel<true, float, "
           "__nv_bfloat16, __nv_fp4x2_e2m1, __nv_fp8_e4m3>(P)")
            .precision,
        Precision::Fp4);
    const KernelClass norm =
        of("void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<transformer_engine::normalization::"
           "Kernel_traits<__nv_bfloat16, __nv_bfloat16, __nv_fp8_e4m3, float, unsigned int, 2048u> >(P)");
    EXPECT_EQ(norm.role, Role::Norm);
    EXPECT_TRUE(norm.fused.contains(Role::Cast));
    EXPECT_EQ(role("void multi_tensor_apply_kernel<TensorListMetadata<5, true>, transformer_engine::multi_tensor_adam::"
                   "AdamFunctorMaster<__nv_fp8_e5m2, float, float, float, int>, float>(long)"),
              Role::Optimizer);
}

TEST(ClassifierTrapTest, T20_WordsThatMeanSomethingElse)
{
    const std::vector<std::pair<const char*, Role>> cases{
        {"void deep_gemm::sm90_tf32_hc_prenorm_gemm_impl<24u, 7168u>(int)", Role::Gemm},
        {"void marlin::Marlin<1ul, 2ul, 256, 1, 8, 8, false, 4>(int4 const*)", Role::Gemm},
        {"void deep_gemm::transpose_fp32<512u, 32u, 64u>(float const*)", Role::ScaleLayout},
        {"void scal_kernel<float, float, 1, true, 5, 5, 5, 3>(cublasTransposeParams<float>, float const*)",
         Role::Elementwise},
        {"void vllm::rotary_embedding_kernel<c10::Half, true>(long const*)", Role::Rope},
        {"_fwd_kernel_ep_scatter_1", Role::Index},
        {"void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, 32, int>(float const*)", Role::Index},
        {"void flash::flash_bwd_convert_dkv_kernel<Flash_bwd_kernel_traits<64, 64, 128> >(P)", Role::Attention}};
    for (const auto& [name, expected] : cases)
        EXPECT_EQ(role(name), expected) << name;
}

TEST(ClassifierTrapTest, T21_TssIsFp32Output)
{
    EXPECT_EQ(of("nvjet_tss_256x128_64x4_1x2_h_badd_coopA_NTN").types.d, "f32");
}

TEST(ClassifierTrapTest, T22_BothToolsSpellingsGetOneClass)
{
    const std::vector<std::pair<const char*, const char*>> twins{
        {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>(c10::BFloat16*, int)",
         "void at::native::<unnamed>::cunn_SoftMaxForward<(int)8, c10::BFloat16, float>(T2 *, int)"},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
         "namespace)::silu_kernel(at::TensorIteratorBase&)::"
         "{lambda()#1}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
         "void at::native::vectorized_elementwise_kernel<(int)4, "
         "at::native::<unnamed>::silu_kernel(at::TensorIteratorBase &)::[lambda() "
         "(instance 1)]::operator ()() const::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, "
         "T2, T3)"},
        {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
         "at::native::MaxNanFunctor"
         "<float> >, unsigned int, float, 4> >(R)",
         "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
         "at::native::func_wrapper_t<float, at::native::"
         "MaxNanFunctor<float>>, unsigned int, float, (int)4>>(T3)"}};
    for (const auto& [kineto, nsys] : twins) {
        const KernelClass a = of(kineto, NameContext::Fp8);
        const KernelClass b = of(nsys, NameContext::Fp8);
        EXPECT_TRUE(a.known()) << kineto;
        EXPECT_EQ(a.rule, b.rule) << nsys;
        EXPECT_EQ(a.precision, b.precision) << nsys;
    }
    for (const char* shortName : {"kernel", "Kernel2", "device_kernel", "multi_tensor_apply_kernel"})
        EXPECT_FALSE(of(shortName).known()) << shortName;
}

TEST(ClassifierTrapTest, T23_MangledNamesAreReadToo)
{
    EXPECT_EQ(
        of("_ZN7cutlass7Kernel2I67cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_32x6_tn_align8EEvNT_6ParamsE")
            .precision,
        Precision::Bf16);
    EXPECT_EQ(role("_ZN2at6native54_GLOBAL__N__0123abcd_21_DistributionNormal_cu_0123abcd43distribution_elementwise_"
                   "grid_stride_kernelIf"),
              Role::Rng);
    EXPECT_EQ(role("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassIDF16b"), Role::Norm);
}

TEST(ClassifierTrapTest, T24_OldInductorNamesTellNothingAndJitNamesHaveNoNamespace)
{
    EXPECT_FALSE(of("triton__0d1d2d3d4d").known());
    EXPECT_EQ(role("cast_transpose_optimized_kernel(float const*, float const*, __nv_fp8_e4m3*, __nv_fp8_e4m3*)"),
              Role::CastTranspose);
}

TEST(ClassifierTrapTest, T26_SpinningIsWaiting)
{
    EXPECT_TRUE(of("void deep_ep::internode::notify_dispatch<false, 16>(int const*, int*)").fused.contains(Role::Sync));
    EXPECT_EQ(role("void deep_ep::intranode::barrier<8>(int**, int)"), Role::Sync);
    EXPECT_EQ(role("c10d::symmetric_memory::barrier_kernel(unsigned int**, int)"), Role::Sync);
    EXPECT_EQ(role("at::cuda::(anonymous namespace)::spin_kernel(long)"), Role::Sync);
    EXPECT_EQ(familyOf(Role::Sync, Precision::Unknown), Family::Idle);
}

}  // namespace
}  // namespace fp8scope::analysis
