// SPDX-License-Identifier: Apache-2.0
// A trace that came without roles: names, ops and their operand types, and what a breakdown says of its evidence.
#include "app/analysis/breakdown.h"
#include "app/analysis/classify/classify.h"
#include "app/analysis/overview.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fp8scope::analysis {
namespace {

const Name& nameOf(const Trace& trace, std::string_view text)
{
    return *std::find_if(trace.names.begin(), trace.names.end(), [&](const Name& n) { return n.text == text; });
}

TEST(ClassifyTraceTest, NamesGetRoleFusedPrecisionAndLibrary)
{
    Trace trace = test::TraceBuilder()
                      .run("rank 0", Origin::Imported)
                      .track("stream 7")
                      .slice(0, 10, "nvjet_qqtst_128x128_128x6_1x2_h_bz_bias_TNT")
                      .slice(10, 10, "void my_company::secret_sauce(float*)")
                      .build();
    classify(trace, KernelClassifier::builtIn());
    const Name& gemm = nameOf(trace, "nvjet_qqtst_128x128_128x6_1x2_h_bz_bias_TNT");
    EXPECT_EQ(gemm.role, Role::Gemm);
    EXPECT_TRUE(gemm.fused.contains(Role::Bias));
    EXPECT_EQ(gemm.precision, Precision::Fp8);
    EXPECT_EQ(gemm.library, "cuBLAS");
    EXPECT_EQ(nameOf(trace, "void my_company::secret_sauce(float*)").role, Role::Other);
}

TEST(ClassifyTraceTest, WhatHasARoleKeepsIt)
{
    Trace trace = test::TraceBuilder()
                      .run("fp8")
                      .track("gpu")
                      .slice(0, 10, "nvjet_tst_128x128_64x4_1x2_h_bz_TNT", Role::Attention, Precision::Fp16)
                      .build();
    classify(trace, KernelClassifier::builtIn());
    EXPECT_EQ(trace.names[0].role, Role::Attention);
    EXPECT_EQ(trace.names[0].precision, Precision::Fp16);
}

TEST(ClassifyTraceTest, OpsOfOneKernelHaveTheRolesOfTheirOwn)
{
    const std::string kernel =
        "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(int)>(int)";
    Trace trace = test::TraceBuilder().run("rank 0", Origin::Imported).track("stream 7").slice(0, 10, kernel).build();
    trace.ops = {{.name = "aten::copy_", .aType = "e4m3", .bType = "bf16"},
                 {.name = "aten::copy_", .aType = "bf16", .bType = "f32"},
                 {.name = "aten::_scaled_mm", .aType = "e4m3", .bType = "e4m3"},
                 {.name = "aten::threshold_backward"},
                 {.name = "MyLayer"}};
    classify(trace, KernelClassifier::builtIn());
    EXPECT_EQ(trace.ops[0].role, Role::Cast);
    EXPECT_EQ(trace.ops[1].role, Role::Other) << "the kernel's name knows that it is a copy";
    EXPECT_EQ(trace.ops[2].role, Role::Gemm);
    EXPECT_EQ(trace.ops[3].role, Role::ActivationGrad);
    EXPECT_EQ(trace.ops[4].role, Role::Other);
}

TEST(ClassifyTraceTest, AnOpIsNotTakenByTheRuleOfItsNeighbour)
{
    const KernelClassifier classifier = KernelClassifier::builtIn();
    const std::vector<std::pair<const char*, Role>> ops{
        {"aten::_fused_rms_norm", Role::Norm},
        {"aten::_fused_adamw_", Role::Optimizer},
        {"aten::_fused_dropout", Role::Rng},
        {"aten::_foreach_copy_", Role::Other},
        {"aten::clamp_min", Role::Other},
        {"aten::_scaled_dot_product_flash_attention_backward", Role::Attention},
        {"aten::_efficient_attention_forward", Role::Attention},
        {"aten::mm_out_of_nowhere", Role::Other}};
    for (const auto& [op, role] : ops)
        EXPECT_EQ(classifier.classifyOp(op, "").role, role) << op;
}

TEST(ClassifyTraceTest, TheBreakdownTellsByWhatTimeWasClassified)
{
    test::TraceBuilder builder;
    builder.run("rank 0", Origin::Imported).track("stream 7");
    for (int step = 0; step < 3; ++step) {
        const std::int64_t t = step * 100;
        builder.opSlice(
            t, 40,
            {.name = "aten::_scaled_mm", .role = Role::Gemm, .m = 1, .n = 1, .k = 1, .aType = "e4m3", .bType = "e4m3"});
        builder.opSlice(t + 40, 10, {.name = "aten::relu", .role = Role::Activation});
        builder.slice(t + 50, 30, "ncclDevKernel_AllGather_RING_LL", Role::Comm);
        builder.slice(t + 80, 20, "kernel_kernel");
        builder.step(static_cast<std::uint32_t>(step), t, 100);
    }
    const Breakdown b = breakdown(builder.build(), RunId(0));
    EXPECT_EQ(b.classifiedNs, (std::array<std::int64_t, kClassifiedByCount>{10, 40, 30, 20}));
    EXPECT_EQ(classifiedBy(b), "10.0% by op, 40.0% by operand types, 30.0% by name, 20.0% unknown");
    EXPECT_DOUBLE_EQ(b.classifiedShare, 0.8);
}

}  // namespace
}  // namespace fp8scope::analysis
