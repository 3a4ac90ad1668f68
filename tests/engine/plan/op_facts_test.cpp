// SPDX-License-Identifier: Apache-2.0
// FLOPs and least bytes against the published inventories: 33 bytes an element for an eager cast, and so on.
#include "tests/engine/plan/plan_support.h"

#include <gtest/gtest.h>

namespace fp8scope::plan {
namespace {

constexpr std::int64_t kBatch = 48, kIn = 64, kOut = 32;  // of layer 1
constexpr std::uint64_t kX = kBatch * kIn, kW = kOut * kIn, kG = kBatch * kOut;

MlpConfig config() { return configOf({16, kIn, kOut, 16}, kBatch); }

/// Bytes of a layer's quantization ops on whole tensors; scalars and scale operands are 12 bytes or less an op.
std::uint64_t quantizationBytes(const StepPlan& plan, int layer)
{
    std::uint64_t bytes = 0;
    for (const Op& op : plan.ops) {
        if (op.layer == layer && familyOf(op.role, Precision::Unknown) == Family::Quantization &&
            op.role != Role::Scale)
            bytes += op.bytes;
    }
    return bytes;
}

TEST(OpFactsTest, EagerCastMovesThirtyThreeBytesAnElement)
{
    const StepPlan plan = buildPlan(config(), "fp8");
    EXPECT_EQ(opNamed(plan, "layer1.fwd.abs_x").bytes, 4 * kX);            // r2 w2
    EXPECT_EQ(opNamed(plan, "layer1.fwd.max_x").bytes, 2 * kX + 4);        // r2
    EXPECT_EQ(opNamed(plan, "layer1.fwd.to_f32_x").bytes, 6 * kX);         // r2 w4
    EXPECT_EQ(opNamed(plan, "layer1.fwd.mul_scale_x").bytes, 8 * kX + 4);  // r4 w4
    EXPECT_EQ(opNamed(plan, "layer1.fwd.clamp_x").bytes, 8 * kX);          // r4 w4
    EXPECT_EQ(opNamed(plan, "layer1.fwd.to_fp8_x").bytes, 5 * kX);         // r4 w1
    EXPECT_EQ(opNamed(plan, "layer1.wgrad.transpose_x").bytes, 2 * kX);    // r1 w1
    // Six casts of 33 bytes, two each of x, w and dy, and three transposes of 2; a max and a multiplication read or
    // write a scalar.
    EXPECT_EQ(quantizationBytes(plan, 1), 66 * (kX + kW + kG) + 2 * (kX + kW + kG) + 6 * 8);
}

TEST(OpFactsTest, FusedCastsMoveSixBytesAnElementTensorwiseAndFourDelayed)
{
    // amax r2, cast with transpose r2 w1 w1. The activation before layer 1 found x's amax, the gradient of the one
    // after it dy's, and the bias gradient.
    EXPECT_EQ(quantizationBytes(buildPlan(config(), "fp8-fused"), 1), 4 * kX + 6 * kW + 4 * kG + 3 * 4 + 4);
    // The activation casts x, its gradient dy, the update w.
    EXPECT_EQ(quantizationBytes(buildPlan(delayed(config()), "fp8-fused"), 1), 0U);
    // Without them: r2 w1 w1 for w and dy, each with a scale read and an amax written.
    MlpConfig without = delayed(config());
    without.fusionOverrides = {{"dact_dbias_cast_transpose", false}, {"optimizer_cast", false}};
    EXPECT_EQ(quantizationBytes(buildPlan(without, "fp8-fused"), 1), 4 * kW + 4 * kG + 2 * 8 + 4 * kOut);
}

TEST(OpFactsTest, GemmsCountTwoFlopsAMultiplyAddAndEveryOperandOnce)
{
    const Op fp8 = opNamed(buildPlan(config(), "fp8"), "layer1.fwd.gemm");
    EXPECT_EQ(fp8.flops, 2.0 * kBatch * kIn * kOut);
    EXPECT_EQ(fp8.bytes, kX + kW + 2 * kG + 2 * 4);  // 1-byte operands, bf16 result, two scales
    const Op bf16 = opNamed(buildPlan(config(), "bf16"), "layer1.fwd.gemm");
    EXPECT_EQ(bf16.flops, 2.0 * kBatch * kIn * kOut + kBatch * kOut);  // with the bias
    EXPECT_EQ(bf16.bytes, 2 * kX + 2 * kW + 2 * kG + 2 * kOut);
}

TEST(OpFactsTest, UpdatesInPlaceAreReadAndWritten)
{
    const StepPlan plan = buildPlan(config(), "fp8");
    EXPECT_EQ(opNamed(plan, "layer1.fwd.bias_add").bytes, 4 * kG + 2 * kOut);
    // bf16 gradient read and weight written, fp32 bias gradient read; master and two states read and written; the step
    // count.
    EXPECT_EQ(opNamed(plan, "layer1.optimizer").bytes, (2 + 2 + 3 * 8) * kW + (4 + 2 + 3 * 8) * kOut + 2 * 4);
    EXPECT_EQ(opNamed(plan, "load_batch").bytes, 2U * (kBatch * 16 * 2 + kBatch * 16 * 4));
}

TEST(OpFactsTest, ShapesAreRowsAndColumns)
{
    const StepPlan plan = buildPlan(delayed(config()), "fp8");
    const auto shapeOf = [&](const char* name) {
        const Op& op = opNamed(plan, name);
        return std::tuple(op.m, op.n, op.k);
    };
    EXPECT_EQ(shapeOf("layer1.fwd.abs_x"), std::tuple(kBatch, kIn, 0));
    EXPECT_EQ(shapeOf("layer1.optimizer"), std::tuple(kOut, kIn, 0));
    EXPECT_EQ(shapeOf("load_batch"), std::tuple(kBatch, 16, 0));
    EXPECT_EQ(shapeOf("delayed_scale_update"), std::tuple(9, 1024, 0));
}

}  // namespace
}  // namespace fp8scope::plan
