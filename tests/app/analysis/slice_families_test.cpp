// SPDX-License-Identifier: Apache-2.0
// Whose word counts on what a slice is: its op's or its name's.
#include "app/analysis/slice_families.h"

#include <gtest/gtest.h>

namespace fp8scope::analysis {
namespace {

Family familyOf(const TraceOp& op, const Name& name) { return SliceFamilies::of(&op, name).family; }

TEST(SliceFamilies, OperandTypesOfTheOpOutrankTheName)
{
    const TraceOp scaledMm{.name = "aten::_scaled_mm", .role = Role::Gemm, .aType = "e4m3", .bType = "e5m2"};
    const Name cutlass{.text = "cutlass::device_kernel", .role = Role::Gemm, .precision = Precision::Bf16};
    EXPECT_EQ(familyOf(scaledMm, cutlass), Family::GemmFp8);
}

TEST(SliceFamilies, AProductWithoutTypesIsWhatItsKernelsNameSays)
{
    const TraceOp mm{.name = "aten::mm", .role = Role::Gemm};
    EXPECT_EQ(familyOf(mm, {.text = "nvjet_tst", .role = Role::Gemm, .precision = Precision::Bf16}), Family::Gemm16);
    EXPECT_EQ(familyOf(mm, {.text = "nvjet_qqtst", .role = Role::Gemm, .precision = Precision::Fp8}), Family::GemmFp8);
    EXPECT_EQ(familyOf(mm, {.text = "unheard_of"}), Family::GemmOther) << "no type anywhere, but a product";
}

TEST(SliceFamilies, ACopyIsACopyWhateverOpAskedForIt)
{
    const TraceOp mm{.name = "aten::mm", .role = Role::Gemm, .aType = "bf16", .bType = "bf16"};
    EXPECT_EQ(familyOf(mm, {.text = "Memset (Device)", .kind = NameKind::Memset, .role = Role::Memset}),
              Family::MemoryOps);
}

TEST(SliceFamilies, WhatAProductsOpLaunchesBesidesIsWhatItsNameSays)
{
    const TraceOp moe{.name = "vllm::moe_forward", .role = Role::Gemm, .aType = "bf16"};
    EXPECT_EQ(familyOf(moe, {.text = "quantize_with_block", .role = Role::Cast}), Family::Quantization);
    EXPECT_EQ(familyOf(moe, {.text = "unheard_of"}), Family::Gemm16);
    const TraceOp product{.name = "aten::mm", .role = Role::Gemm, .m = 8, .n = 8, .k = 8, .aType = "bf16"};
    EXPECT_EQ(familyOf(product, {.text = "reduce_kernel", .role = Role::Reduce}), Family::Gemm16)
        << "the longest kernel of a product multiplies, whatever it is called";
}

TEST(SliceFamilies, AnOpOfUnknownRoleLeavesItToTheName)
{
    EXPECT_EQ(familyOf({.name = "my::op"}, {.text = "adam", .role = Role::Optimizer}), Family::Optimizer);
}

}  // namespace
}  // namespace fp8scope::analysis
