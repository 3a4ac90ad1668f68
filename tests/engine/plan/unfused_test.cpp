// SPDX-License-Identifier: Apache-2.0
// The plan before fusion against the inventory of eager torchao: launches a layer, their order, formats, scales and
// GEMM layouts.
#include "tests/engine/plan/plan_support.h"

#include "collector/trace/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// One eager cast: two kernels for the amax, five scalar ones for the scale, four for the values.
std::vector<std::string> castOf(const std::string& operand)
{
    std::vector<std::string> kernels{
        "abs_",          "max_",    "amax_to_f64_", "amax_clamp_min_", "amax_reciprocal_", "scale_mul_",
        "scale_to_f32_", "to_f32_", "mul_scale_",   "clamp_",          "to_fp8_"};
    for (std::string& kernel : kernels)
        kernel += operand;
    return kernels;
}

std::vector<std::string> joined(std::initializer_list<std::vector<std::string>> parts)
{
    std::vector<std::string> all;
    for (const auto& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

TEST(UnfusedPlanTest, EagerFp8LayerLaunchesWhatTorchaoLaunches)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 48, 16}, 32), "fp8");
    EXPECT_EQ(opsOfPhase(plan, 1, Phase::Forward),
              joined({castOf("x"), castOf("w"), {"scale_inv_x", "scale_inv_w", "gemm", "bias_add", "act"}}));
    EXPECT_EQ(
        opsOfPhase(plan, 1, Phase::Dgrad),
        joined({{"act_grad"}, castOf("dy"), castOf("w"), {"transpose_w", "scale_inv_dy", "scale_inv_w", "gemm"}}));
    EXPECT_EQ(opsOfPhase(plan, 1, Phase::Wgrad),
              joined({castOf("dy"),
                      castOf("x"),
                      {"transpose_dy", "transpose_x", "scale_inv_dy", "scale_inv_x", "gemm", "bias_grad"}}));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Optimizer), ElementsAre("optimizer"));

    // 66 kernels of 6 casts, 3 transposes, 6 reciprocals and 3 GEMMs: the inventory's 78, besides bias, activation and
    // optimizer.
    EXPECT_EQ(opsOfLayer(plan, 1).size(), 78U + 5U);
}

/// A middle layer's kernels besides bias, activation and optimizer.
std::size_t kernelsOfLayer(RecipeKind kind, const char* mode)
{
    MlpConfig config = configOf({64, 32, 96, 32}, 32);
    config.recipe.kind = kind;
    config.bias = false;
    const StepPlan plan = buildPlan(config, mode);
    std::size_t count = 0;
    for (const Op& op : plan.ops)
        count += op.layer == 1 && op.role != Role::Activation && op.role != Role::ActivationGrad &&
                         op.role != Role::Optimizer
                     ? 1
                     : 0;
    return count;
}

TEST(UnfusedPlanTest, EveryRecipeLaunchesWhatTheHelpSays)
{
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Tensorwise, "fp8"), 78U);
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Delayed, "fp8"), 36U);
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Rowwise, "fp8"), 98U);
    EXPECT_EQ(kernelsOfLayer(RecipeKind::RowwiseWithGwHp, "fp8"), 65U);
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Blockwise, "fp8"), 9U);
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Mxfp8, "fp8"), 15U);
    // Fused, x comes from an activation that does a part of its quantization: an amax or the whole of it.
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Rowwise, "fp8-fused"), 12U - 1);
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Blockwise, "fp8-fused"), 6U - 1);
    EXPECT_EQ(kernelsOfLayer(RecipeKind::Mxfp8, "fp8-fused"), 6U - 1);
}

TEST(UnfusedPlanTest, RowwiseScalesFollowTheOperandsOrientation)
{
    MlpConfig config = configOf({64, 32, 96, 32}, 48);
    config.recipe.kind = RecipeKind::Rowwise;
    const StepPlan plan = buildPlan(config, "fp8");
    EXPECT_EQ(tensorNamed(plan, "layer1.fwd.x.scale").rows, 48);    // the rows of x
    EXPECT_EQ(tensorNamed(plan, "layer1.wgrad.x.scale").cols, 32);  // its columns are the rows of x^T
    EXPECT_EQ(tensorNamed(plan, "layer1.fwd.w.scale").rows, 96);
    EXPECT_EQ(tensorNamed(plan, "layer1.dgrad.w.scale").cols, 32);
    const GemmCall& forward = *opNamed(plan, "layer1.fwd.gemm").gemm;
    EXPECT_EQ(forward.aScaleMode, ScaleMode::OuterVec32F);
    EXPECT_TRUE(forward.fastAccumulation);
    const GemmCall& wgrad = *opNamed(plan, "layer1.wgrad.gemm").gemm;
    EXPECT_EQ(wgrad.aScaleMode, ScaleMode::None);
    EXPECT_FALSE(wgrad.fastAccumulation);
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer1.wgrad.rescale").inputs),
              "layer1.dw.unscaled, layer1.wgrad.dy.scale_inv, layer1.wgrad.x.scale_inv");
}

TEST(UnfusedPlanTest, BlockwiseNeverMultipliesSquareBlocksWithSquareBlocks)
{
    MlpConfig config = configOf({256, 272, 32}, 48);
    config.recipe.kind = RecipeKind::Blockwise;
    const StepPlan plan = buildPlan(config, "fp8");
    const auto modes = [&](const char* name) {
        const GemmCall& call = *opNamed(plan, name).gemm;
        return std::pair(call.aScaleMode, call.bScaleMode);
    };
    EXPECT_EQ(modes("layer1.fwd.gemm"), std::pair(ScaleMode::Blk128x128_32F, ScaleMode::Vec128_32F));
    EXPECT_EQ(modes("layer1.dgrad.gemm"), std::pair(ScaleMode::Blk128x128_32F, ScaleMode::Vec128_32F));
    EXPECT_EQ(modes("layer1.wgrad.gemm"), std::pair(ScaleMode::Vec128_32F, ScaleMode::Vec128_32F));
    const Tensor& weightFactors = tensorNamed(plan, "layer1.fwd.w.scale_inv");  // of [32, 272]
    EXPECT_EQ(weightFactors.rows, 1);
    EXPECT_EQ(weightFactors.cols, 4);                                          // three blocks, stride 4
    const Tensor& inputFactors = tensorNamed(plan, "layer1.fwd.x.scale_inv");  // of [48, 272]
    EXPECT_EQ(inputFactors.rows, 3);
    EXPECT_EQ(inputFactors.cols, 48);
}

TEST(UnfusedPlanTest, Mxfp8NeedsWholeBlocksInEveryDimension)
{
    MlpConfig config = configOf({64, 48, 32}, 32);
    config.recipe.kind = RecipeKind::Mxfp8;
    const StepPlan plan = buildPlan(config, "fp8");
    EXPECT_EQ(plan.layers[0].reason, "out features 48 is not a multiple of 32");
    EXPECT_EQ(plan.layers[1].reason, "in features 48 is not a multiple of 32");
}

TEST(UnfusedPlanTest, WithGwHpTheFirstLayersGradientIsNotQuantized)
{
    MlpConfig config = configOf({64, 32, 16}, 32);
    config.recipe.kind = RecipeKind::RowwiseWithGwHp;
    const StepPlan plan = buildPlan(config, "fp8");
    std::vector<std::string> names;
    for (const QuantizedTensor& entry : plan.quantized)
        names.push_back(entry.name);
    EXPECT_THAT(names, ElementsAre("layer0.x", "layer0.w", "layer1.x", "layer1.w", "layer1.dy"));
    EXPECT_EQ(opNamed(plan, "layer1.wgrad.gemm").gemm->a.type, DType::Bf16);
    EXPECT_EQ(tensorNamed(plan, "layer1.dgrad.w.scale").elements(), 1);
}

TEST(UnfusedPlanTest, FirstLayerHasNoDgrad)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 16}, 32), "fp8");
    EXPECT_THAT(opsOfPhase(plan, 0, Phase::Dgrad), ElementsAre("act_grad"));
    // 4 casts, 2 transposes, 4 reciprocals, 2 GEMMs; bias add and gradient, activation and gradient, optimizer.
    EXPECT_EQ(opsOfLayer(plan, 0).size(), 4U * 11 + 2 + 4 + 2 + 5);
}

TEST(UnfusedPlanTest, Bf16IsTheStrongBaseline)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 10}, 32), "bf16");
    std::vector<std::string> names;
    for (const Op& op : plan.ops)
        names.push_back(op.name);
    EXPECT_THAT(names,
                ElementsAre("load_batch", "layer0.fwd.gemm", "layer0.fwd.act", "layer1.fwd.gemm", "loss",
                            "layer1.dgrad.gemm", "layer1.wgrad.gemm", "layer1.wgrad.bias_grad", "layer0.dgrad.act_grad",
                            "layer0.wgrad.gemm", "layer0.wgrad.bias_grad", "layer0.optimizer", "layer1.optimizer"));
    EXPECT_EQ(opNamed(plan, "layer1.fwd.gemm").gemm->epilogue, Epilogue::Bias);
    EXPECT_TRUE(plan.quantized.empty());
}

TEST(UnfusedPlanTest, WithoutBiasOrActivationTheirOpsAreAbsent)
{
    MlpConfig config = configOf({64, 32, 16}, 32);
    config.bias = false;
    config.activation = Activation::None;
    const StepPlan plan = buildPlan(config, "fp8");
    for (const OpKind kind : {OpKind::BiasAdd, OpKind::BiasGrad, OpKind::ActForward, OpKind::ActBackward})
        EXPECT_EQ(countKind(plan, kind), 0U) << toString(kind);
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer1.fwd.abs_x").inputs), "layer0.z");
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer0.optimizer").inputs), "layer0.dw");
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer0.optimizer").outputs),
              "layer0.w, layer0.w.master, layer0.w.mean, layer0.w.variance, layer0.step");
}

TEST(UnfusedPlanTest, FormatsAndScaleArithmeticAreTorchaos)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 16}, 32), "fp8");
    EXPECT_EQ(tensorNamed(plan, "layer1.fwd.x.q").type, DType::E4m3);
    EXPECT_EQ(tensorNamed(plan, "layer1.fwd.w.q").type, DType::E4m3);
    EXPECT_EQ(tensorNamed(plan, "layer1.dgrad.dy.q").type, DType::E5m2);
    EXPECT_EQ(opNamed(plan, "layer1.fwd.amax_clamp_min_x").constant, 1e-12);
    EXPECT_EQ(opNamed(plan, "layer1.fwd.scale_mul_x").constant, 448.0);
    EXPECT_EQ(opNamed(plan, "layer1.dgrad.scale_mul_dy").constant, 57344.0);
    EXPECT_EQ(opNamed(plan, "layer1.dgrad.clamp_dy").constant, 57344.0);
    EXPECT_EQ(tensorNamed(plan, "layer1.fwd.x.amax_floored").type, DType::F64);
    EXPECT_EQ(tensorNamed(plan, "layer1.fwd.x.scale").type, DType::F32);
}

struct GemmCase {
    const char* op;
    const char* a;
    const char* b;
    const char* d;
    bool transA, transB;
    std::int64_t m, n, k;  // row-major view, as in Op
    bool fast;
};

void expectGemm(const StepPlan& plan, const GemmCase& expected)
{
    SCOPED_TRACE(expected.op);
    const Op& op = opNamed(plan, expected.op);
    const GemmCall& call = *op.gemm;
    EXPECT_EQ(plan.tensor(call.aTensor).name, expected.a);
    EXPECT_EQ(plan.tensor(call.bTensor).name, expected.b);
    EXPECT_EQ(plan.tensor(call.dTensor).name, expected.d);
    EXPECT_EQ(call.transA, expected.transA);
    EXPECT_EQ(call.transB, expected.transB);
    EXPECT_EQ(std::tuple(op.m, op.n, op.k), std::tuple(expected.m, expected.n, expected.k));
    EXPECT_EQ(call.fastAccumulation, expected.fast);
    EXPECT_EQ(refusal(call, 90), std::nullopt);
    for (const auto& [layout, tensor] :
         {std::pair(call.a, call.aTensor), std::pair(call.b, call.bTensor), std::pair(call.d, call.dTensor)}) {
        EXPECT_EQ(layout.rows, plan.tensor(tensor).cols);  // a row-major matrix is its column-major transpose
        EXPECT_EQ(layout.cols, plan.tensor(tensor).rows);
        EXPECT_EQ(layout.ld, plan.tensor(tensor).cols);
        EXPECT_EQ(layout.type, plan.tensor(tensor).type);
    }
}

TEST(UnfusedPlanTest, Fp8GemmsAreTnOnTransposedCopies)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 16}, 48), "fp8");
    expectGemm(plan,
               {"layer1.fwd.gemm", "layer1.fwd.w.q", "layer1.fwd.x.q", "layer1.z", true, false, 48, 16, 32, true});
    expectGemm(plan, {"layer1.dgrad.gemm", "layer1.dgrad.w.qt", "layer1.dgrad.dy.q", "layer0.da", true, false, 48, 32,
                      16, false});
    expectGemm(plan, {"layer1.wgrad.gemm", "layer1.wgrad.x.qt", "layer1.wgrad.dy.qt", "layer1.dw", true, false, 16, 32,
                      48, false});
    const GemmCall& forward = *opNamed(plan, "layer1.fwd.gemm").gemm;
    EXPECT_EQ(plan.tensor(forward.aScale).name, "layer1.fwd.w.scale_inv");
    EXPECT_EQ(plan.tensor(forward.bScale).name, "layer1.fwd.x.scale_inv");
    EXPECT_EQ(forward.aScaleMode, ScaleMode::Scalar32F);
}

TEST(UnfusedPlanTest, Bf16GemmsTransposeNothing)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 16}, 48), "bf16");
    expectGemm(plan, {"layer1.fwd.gemm", "layer1.w", "layer1.x", "layer1.z", true, false, 48, 16, 32, false});
    expectGemm(plan, {"layer1.dgrad.gemm", "layer1.w", "layer1.dy", "layer0.da", false, false, 48, 32, 16, false});
    expectGemm(plan, {"layer1.wgrad.gemm", "layer1.x", "layer1.dy", "layer1.dw", false, true, 16, 32, 48, false});
    EXPECT_EQ(opNamed(plan, "layer1.fwd.gemm").gemm->aScaleMode, ScaleMode::None);
}

TEST(UnfusedPlanTest, LayersThatDoNotFitRunInBf16AndSayWhy)
{
    const StepPlan plan = buildPlan(configOf({784, 100, 64, 10}, 32), "fp8");
    EXPECT_EQ(plan.layers[0].reason, "out features 100 is not a multiple of 16");
    EXPECT_EQ(plan.layers[1].reason, "in features 100 is not a multiple of 16");
    EXPECT_EQ(plan.layers[2].reason, "out features 10 is not a multiple of 16");
    EXPECT_THAT(plan.quantized, IsEmpty());

    const StepPlan oddBatch = buildPlan(configOf({64, 64}, 20), "fp8");
    EXPECT_FALSE(oddBatch.layers[0].fp8);
    EXPECT_EQ(oddBatch.layers[0].reason, "batch 20 is not a multiple of 16");

    const StepPlan fits = buildPlan(configOf({64, 64}, 32), "fp8");
    EXPECT_TRUE(fits.layers[0].fp8);
    EXPECT_EQ(fits.layers[0].reason, "");
    EXPECT_EQ(buildPlan(configOf({64, 10}, 32), "bf16").layers[0].reason, "");  // not an fp8 mode: nothing to explain
}

TEST(UnfusedPlanTest, OnlyTheFirstCastOfATensorCounts)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 16}, 32), "fp8");
    std::vector<std::string> names, counted;
    for (const QuantizedTensor& entry : plan.quantized)
        names.push_back(entry.name);
    for (const Op& op : plan.ops) {
        if (op.quantized >= 0)
            counted.push_back(op.name + " " + names[static_cast<std::size_t>(op.quantized)]);
    }
    EXPECT_THAT(names, ElementsAre("layer0.x", "layer0.w", "layer0.dy", "layer1.x", "layer1.w", "layer1.dy"));
    EXPECT_THAT(counted, ElementsAre("layer0.fwd.clamp_x layer0.x", "layer0.fwd.to_fp8_x layer0.x",
                                     "layer0.fwd.clamp_w layer0.w", "layer0.fwd.to_fp8_w layer0.w",
                                     "layer1.fwd.clamp_x layer1.x", "layer1.fwd.to_fp8_x layer1.x",
                                     "layer1.fwd.clamp_w layer1.w", "layer1.fwd.to_fp8_w layer1.w",
                                     "layer1.dgrad.clamp_dy layer1.dy", "layer1.dgrad.to_fp8_dy layer1.dy",
                                     "layer0.wgrad.clamp_dy layer0.dy", "layer0.wgrad.to_fp8_dy layer0.dy"));
    const QuantizedTensor& dy = plan.quantized[5];
    EXPECT_EQ(namesOf(plan, {dy.source, dy.amax, dy.scale, dy.scaleInv}),
              "layer1.dy, layer1.dgrad.dy.amax, layer1.dgrad.dy.scale, layer1.dgrad.dy.scale_inv");
    EXPECT_EQ(dy.elements, 32 * 16);
}

TEST(UnfusedPlanTest, DelayedScalesComeFromHistory)
{
    MlpConfig config = delayed(configOf({64, 32, 16}, 32));
    config.recipe.historyLength = 5;
    config.recipe.margin = 3;
    const StepPlan plan = buildPlan(config, "fp8");
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Forward),
                ElementsAre("abs_x", "max_x", "to_f32_x", "mul_scale_x", "clamp_x", "to_fp8_x", "abs_w", "max_w",
                            "to_f32_w", "mul_scale_w", "clamp_w", "to_fp8_w", "gemm", "bias_add"));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Dgrad),  // w again: cast with the same scale, its amax is known
                ElementsAre("abs_dy", "max_dy", "to_f32_dy", "mul_scale_dy", "clamp_dy", "to_fp8_dy", "to_f32_w",
                            "mul_scale_w", "clamp_w", "to_fp8_w", "transpose_w", "gemm"));
    const Op& update = plan.ops.back();
    EXPECT_EQ(update.kind, OpKind::DelayedScaleUpdate);
    EXPECT_EQ(plan.recipe.margin, 3);
    EXPECT_EQ(namesOf(plan, update.inputs), "delayed.amax, delayed.history");
    EXPECT_EQ(namesOf(plan, update.outputs), "delayed.scale, delayed.scale_inv, delayed.history, delayed.amax");
    EXPECT_EQ(tensorNamed(plan, "delayed.history").rows, 6);
    EXPECT_EQ(tensorNamed(plan, "delayed.history").cols, 5);
    EXPECT_EQ(tensorNamed(plan, "delayed.scale").initialValue, 1.0F);
    EXPECT_EQ(tensorNamed(plan, "delayed.history").initialValue, 0.0F);
}

TEST(UnfusedPlanTest, DelayedScalesAreViewsAtTheTensorsSlot)
{
    const StepPlan plan = buildPlan(delayed(configOf({64, 32, 16}, 32)), "fp8");
    for (std::size_t slot = 0; slot < plan.quantized.size(); ++slot) {
        const QuantizedTensor& entry = plan.quantized[slot];
        for (const auto& [view, parent] :
             {std::pair(entry.amax, "delayed.amax"), std::pair(entry.scale, "delayed.scale"),
              std::pair(entry.scaleInv, "delayed.scale_inv")}) {
            EXPECT_EQ(plan.tensor(plan.tensor(view).viewOf).name, parent);
            EXPECT_EQ(plan.tensor(view).viewBytes, 4 * slot);
            EXPECT_EQ(plan.tensor(view).offset, tensorNamed(plan, parent).offset + 4 * slot);
        }
    }
}

TEST(UnfusedPlanTest, LossDecidesTheTarget)
{
    MlpConfig config = configOf({64, 10}, 32);
    EXPECT_EQ(tensorNamed(buildPlan(config, "bf16"), "target").type, DType::F32);
    EXPECT_EQ(tensorNamed(buildPlan(config, "bf16"), "target").cols, 10);
    config.loss = Loss::SoftmaxCrossEntropy;
    EXPECT_EQ(tensorNamed(buildPlan(config, "bf16"), "target").type, DType::I32);
    EXPECT_EQ(tensorNamed(buildPlan(config, "bf16"), "target").cols, 1);
}

TEST(UnfusedPlanTest, SgdKeepsOneStateAndAdamTwo)
{
    MlpConfig config = configOf({64, 16}, 32);
    config.optimizer.kind = OptimizerKind::Sgd;
    const StepPlan plan = buildPlan(config, "fp8");
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer0.optimizer").inputs), "layer0.dw, layer0.db");
    EXPECT_EQ(
        namesOf(plan, opNamed(plan, "layer0.optimizer").outputs),
        "layer0.w, layer0.w.master, layer0.w.momentum, layer0.b, layer0.b.master, layer0.b.momentum, layer0.step");
}

TEST(UnfusedPlanTest, ConfigurationsMadeByCodeAreCheckedToo)
{
    EXPECT_THROW(static_cast<void>(buildPlan(configOf({64}, 32), "bf16")), Error);
    EXPECT_THROW(static_cast<void>(buildPlan(configOf({64, 0}, 32), "bf16")), Error);
    EXPECT_THROW(static_cast<void>(buildPlan(configOf({64, 64}, 0), "bf16")), Error);
}

}  // namespace
}  // namespace fp8scope::plan
