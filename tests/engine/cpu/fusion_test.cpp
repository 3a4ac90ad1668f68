// SPDX-License-Identifier: Apache-2.0
// Each fusion against the plan without it: every tensor that both keep, and the losses of some steps. Bitwise where
// only the order of passes changes; the bias epilogue rounds once where GEMM and bias kernel round twice, within a
// written tolerance.
#include "tests/engine/cpu/small_configs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace fp8scope::cpu {
namespace {

using plan::MlpConfig;

CpuExecutor executorWith(const MlpConfig& config, const plan::Fusions& fusions)
{
    const plan::ModeSettings settings{.mode = "fp8", .fp8 = true, .fusions = fusions};
    return CpuExecutor(plan::buildPlan(config, settings, {.keepTensors = true}), {.threads = 1});
}

/// Names of tensors that some op of the plan writes.
std::set<std::string> written(const plan::StepPlan& plan)
{
    std::set<std::string> names;
    for (const plan::Op& op : plan.ops)
        for (const plan::TensorId id : op.outputs)
            if (id.valid())
                names.insert(plan.tensor(id).name);
    return names;
}

std::vector<std::string> writtenByBoth(const CpuExecutor& a, const CpuExecutor& b)
{
    const std::set<std::string> inA = written(a.plan()), inB = written(b.plan());
    std::vector<std::string> names;
    std::set_intersection(inA.begin(), inA.end(), inB.begin(), inB.end(), std::back_inserter(names));
    return names;
}

void expectSameBytes(CpuExecutor& unfused, CpuExecutor& fused)
{
    const std::vector<std::string> names = writtenByBoth(unfused, fused);
    ASSERT_GT(names.size(), 20U);  // at least parameters, states and gradients of the layers
    for (const std::string& name : names) {
        const auto a = unfused.bytes(tensorNamed(unfused.plan(), name)),
                   b = fused.bytes(tensorNamed(fused.plan(), name));
        ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << name;
    }
}

/// The fusions that can be switched on without changing a result, one after the other, each with what it needs.
struct Stage {
    const char* name;
    plan::Fusions fusions;
};
const Stage kExactStages[] = {
    {"cast_chain", {.castChain = true}},
    {"cast_transpose", {.castChain = true, .castTranspose = true}},
    {"dbias_cast_transpose", {.castChain = true, .castTranspose = true, .dbiasCastTranspose = true}},
    {"act_cast", {.castChain = true, .castTranspose = true, .actCast = true}},
    {"dact_dbias_cast_transpose",
     {.castChain = true, .castTranspose = true, .dbiasCastTranspose = true, .dactDbiasCastTranspose = true}},
    {"all but the epilogue",
     {.castChain = true,
      .castTranspose = true,
      .dbiasCastTranspose = true,
      .actCast = true,
      .dactDbiasCastTranspose = true}},
};

/// The stages as far as the recipe has them.
std::vector<Stage> stagesOf(plan::RecipeKind recipe)
{
    std::vector<Stage> stages(std::begin(kExactStages), std::end(kExactStages));
    for (Stage& stage : stages)
        for (const plan::FusionSwitch& fusion : plan::fusionSwitches())
            if (!plan::fusionObstacle(fusion, recipe).empty())
                stage.fusions.*fusion.member = false;
    std::erase_if(stages, [](const Stage& stage) { return stage.fusions == plan::Fusions{}; });
    return stages;
}

void expectBitwise(const MlpConfig& config)
{
    constexpr int kSteps = 4;
    for (const Stage& stage : stagesOf(config.recipe.kind)) {
        SCOPED_TRACE(stage.name);
        CpuExecutor unfused = executorWith(config, {}), fused = executorWith(config, stage.fusions);
        EXPECT_LT(fused.plan().ops.size(), unfused.plan().ops.size());
        for (int step = 0; step < kSteps; ++step) {
            SCOPED_TRACE(fmt::format("step {}", step));
            const StepResult a = unfused.runStep(), b = fused.runStep();
            ASSERT_EQ(a.loss, b.loss);
            for (std::size_t q = 0; q < a.quantized.size(); ++q) {
                SCOPED_TRACE(unfused.plan().quantized[q].name);
                EXPECT_EQ(a.quantized[q].amax, b.quantized[q].amax);
                EXPECT_EQ(a.quantized[q].scale, b.quantized[q].scale);
                EXPECT_EQ(a.quantized[q].saturated, b.quantized[q].saturated);
                EXPECT_EQ(a.quantized[q].underflowed, b.quantized[q].underflowed);
                EXPECT_EQ(a.quantized[q].zeros, b.quantized[q].zeros);
            }
            expectSameBytes(unfused, fused);
        }
    }
}

TEST(FusionTest, KeepsEveryTensorBitwiseTensorwise)
{
    expectBitwise(smallConfig());
    MlpConfig gelu = smallConfig();
    gelu.activation = plan::Activation::Gelu;
    gelu.loss = plan::Loss::SoftmaxCrossEntropy;
    expectBitwise(gelu);
}

TEST(FusionTest, KeepsEveryTensorBitwiseDelayed)
{
    expectBitwise(withRecipe(smallConfig(), plan::RecipeKind::Delayed));
}

TEST(FusionTest, KeepsEveryTensorBitwiseWithScalesForRows)
{
    expectBitwise(withRecipe(smallConfig(), plan::RecipeKind::Rowwise));
    expectBitwise(withRecipe(smallConfig(), plan::RecipeKind::RowwiseWithGwHp));
}

TEST(FusionTest, KeepsEveryTensorBitwiseWithScalesForBlocks)
{
    expectBitwise(withRecipe(smallConfig(), plan::RecipeKind::Blockwise));
    MlpConfig gelu = withRecipe(wholeBlocks(), plan::RecipeKind::Mxfp8);
    gelu.activation = plan::Activation::Gelu;
    expectBitwise(gelu);
}

/// With scales that are powers of two, rounding before scaling is the same as after it.
TEST(FusionTest, ScaleEpilogueIsExactForPowersOfTwo)
{
    const MlpConfig config = withRecipe(smallConfig(), plan::RecipeKind::Rowwise);
    CpuExecutor unfused = executorWith(config, {}), fused = executorWith(config, {.scaleEpilogue = true});
    EXPECT_EQ(unfused.plan().ops.size() - fused.plan().ops.size(), 5U);  // 3 wgrads, 2 dgrads
    for (int step = 0; step < 4; ++step) {
        ASSERT_EQ(unfused.runStep().loss, fused.runStep().loss);
        expectSameBytes(unfused, fused);
    }
}

TEST(FusionTest, KeepsEveryTensorBitwiseWithABf16Layer)
{
    MlpConfig config = smallConfig();
    config.widths = {48, 64, 32, 10};
    expectBitwise(config);
}

/// The bias epilogue on both sides: what an activation in the epilogue is to leave as it was.
TEST(FusionTest, ActEpilogueKeepsEveryTensorBitwise)
{
    MlpConfig gelu = smallConfig();
    gelu.activation = plan::Activation::Gelu;
    gelu.widths = {48, 64, 20, 16};  // a bf16 layer, 20 outputs: no multiple of 8, so gelu's z cannot be kept there
    MlpConfig odd = smallConfig();
    odd.widths = {48, 72, 33, 16};  // rows of the mask that end within a word
    for (const MlpConfig& config : {smallConfig(), gelu, odd, withRecipe(smallConfig(), plan::RecipeKind::Delayed)}) {
        for (const bool fp8 : {true, false}) {
            const auto build = [&](bool act) {
                const plan::ModeSettings settings{
                    .mode = "fp8", .fp8 = fp8, .fusions = {.biasEpilogue = true, .actEpilogue = act}};
                return CpuExecutor(plan::buildPlan(config, settings, {.keepTensors = true}), {.threads = 1});
            };
            CpuExecutor separate = build(false), fused = build(true);
            EXPECT_LT(fused.plan().ops.size(), separate.plan().ops.size());
            for (int step = 0; step < 4; ++step) {
                ASSERT_EQ(fused.runStep().loss, separate.runStep().loss) << "step " << step;
                expectSameBytes(separate, fused);
            }
        }
    }
}

/// The fused update is a step ahead with the fp8 weights: after a step it holds what the other plan casts in the next.
TEST(FusionTest, OptimizerCastGivesTheSameWeightsAndStatistics)
{
    for (const int parts : {1, 2}) {
        MlpConfig config = withRecipe(smallConfig(), plan::RecipeKind::Delayed);
        config.batch = 96;
        config.microBatches = parts;
        plan::Fusions fusions{.castChain = true, .castTranspose = true, .weightCache = true};
        CpuExecutor separate = executorWith(config, fusions);
        fusions.optimizerCast = true;
        CpuExecutor fused = executorWith(config, fusions);
        EXPECT_LT(fused.plan().ops.size(), separate.plan().ops.size());
        const std::string q = parts == 1 ? "layer1.fwd.w.q" : "mb0.layer1.fwd.w.q";
        std::vector<float> ahead = readNamed(fused, q);
        for (int step = 0; step < 6; ++step) {
            SCOPED_TRACE(fmt::format("{} parts, step {}", parts, step));
            const StepResult a = separate.runStep(), b = fused.runStep();
            ASSERT_EQ(a.loss, b.loss);
            for (std::size_t t = 0; t < a.quantized.size(); ++t) {
                EXPECT_EQ(a.quantized[t].amax, b.quantized[t].amax) << separate.plan().quantized[t].name;
                EXPECT_EQ(a.quantized[t].scale, b.quantized[t].scale);
                EXPECT_EQ(a.quantized[t].saturated, b.quantized[t].saturated);
                EXPECT_EQ(a.quantized[t].zeros, b.quantized[t].zeros);
            }
            EXPECT_EQ(readNamed(separate, q), ahead);
            ahead = readNamed(fused, q);
            for (const char* name : {"layer0.w", "layer1.w.master", "layer2.b", "delayed.scale", "delayed.history"})
                EXPECT_EQ(readNamed(fused, name), readNamed(separate, name)) << name;
        }
    }
}

TEST(FusionTest, BiasEpilogueSavesOneRounding)
{
    for (const plan::RecipeKind recipe : {plan::RecipeKind::Tensorwise, plan::RecipeKind::Delayed}) {
        const MlpConfig config = withRecipe(smallConfig(), recipe);
        CpuExecutor unfused = executorWith(config, {}), fused = executorWith(config, {.biasEpilogue = true});
        const double first = unfused.runStep().loss;
        // Biases are zero in the first step, where both must agree.
        EXPECT_EQ(fused.runStep().loss, first);
        for (int step = 1; step < 8; ++step) {
            // z differs by half a unit of bf16 here and there (2^-9); the loss averages that over many elements.
            const double loss = unfused.runStep().loss;
            EXPECT_NEAR(fused.runStep().loss, loss, 0.01 * loss) << "step " << step;
        }
        const std::vector<float> a = readNamed(unfused, "layer0.z"), b = readNamed(fused, "layer0.z");
        double difference = 0, size = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            difference += std::pow(a[i] - b[i], 2);
            size += std::pow(a[i], 2);
        }
        EXPECT_LT(std::sqrt(difference / size), 0.02);
        EXPECT_GT(difference, 0);
    }
}

}  // namespace
}  // namespace fp8scope::cpu
