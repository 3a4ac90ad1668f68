// SPDX-License-Identifier: Apache-2.0
// Micro-batches and recomputation train as the plain step does.
#include "tests/engine/cpu/small_configs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fp8scope::cpu {
namespace {

using plan::MlpConfig;

/// |a - b| over |b|, both as vectors.
double relativeDifference(const std::vector<float>& a, const std::vector<float>& b)
{
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(a[i] - b[i], 2);
        size += std::pow(b[i], 2);
    }
    return std::sqrt(difference / size);
}

MlpConfig inParts(MlpConfig config, int parts)
{
    config.microBatches = parts;
    config.wgradType = DType::F32;
    return config;
}

/// Tensors that stay from step to step, and the sums of a step.
void expectSameState(CpuExecutor& a, CpuExecutor& b)
{
    std::size_t compared = 0;
    for (const plan::Tensor& tensor : a.plan().tensors) {
        if (!tensor.persistent || tensor.viewOf.valid())
            continue;
        const auto inA = a.bytes(tensorNamed(a.plan(), tensor.name)), inB = b.bytes(tensorNamed(b.plan(), tensor.name));
        ASSERT_TRUE(std::equal(inA.begin(), inA.end(), inB.begin(), inB.end())) << tensor.name;
        ++compared;
    }
    ASSERT_GE(compared, 20U);
}

TEST(MicroBatchesTest, SumUpToTheGradientsOfTheWholeBatch)
{
    MlpConfig config = smallConfig();
    config.batch = 96;
    for (const plan::Loss loss : {plan::Loss::MeanSquaredError, plan::Loss::SoftmaxCrossEntropy}) {
        config.loss = loss;
        CpuExecutor whole = executorKeepingTensors(inParts(config, 1), "bf16");
        CpuExecutor parts = executorKeepingTensors(inParts(config, 3), "bf16");
        const double expected = whole.runStep().loss;
        // Rows are computed alike; only their fp32 sums are made in another order.
        EXPECT_NEAR(parts.runStep().loss, expected, 1e-6 * expected);
        for (const char* name : {"layer0.dw", "layer1.dw", "layer2.dw", "layer0.db", "layer2.db"})
            EXPECT_LT(relativeDifference(readNamed(parts, name), readNamed(whole, name)), 1e-5) << name;
    }
}

TEST(MicroBatchesTest, TrainAsTheWholeBatchInEveryMode)
{
    MlpConfig config = smallConfig();
    config.batch = 96;
    for (const plan::RecipeKind recipe : {plan::RecipeKind::Tensorwise, plan::RecipeKind::Delayed}) {
        for (const char* mode : {"bf16", "fp8", "fp8-fused"}) {
            CpuExecutor whole = executorFor(inParts(withRecipe(config, recipe), 1), mode);
            CpuExecutor parts = executorFor(inParts(withRecipe(config, recipe), 2), mode);
            const std::vector<double> expected = losses(whole, 30), got = losses(parts, 30);
            // fp8 parts have scales of their own, so their roundings differ.
            EXPECT_NEAR(got.back(), expected.back(), (std::string(mode) == "bf16" ? 0.01 : 0.05) * expected.back())
                << mode;
            EXPECT_LT(got.back(), 0.5 * got.front()) << mode;
        }
    }
}

TEST(MicroBatchesTest, Bf16GradientsAccumulateToo)
{
    MlpConfig config = inParts(smallConfig(), 5);
    config.wgradType = DType::Bf16;
    CpuExecutor whole = executorKeepingTensors(inParts(smallConfig(), 1), "bf16");
    CpuExecutor parts = executorKeepingTensors(config, "bf16");
    whole.runStep();
    parts.runStep();
    // Five roundings to 8 bits.
    EXPECT_LT(relativeDifference(readNamed(parts, "layer1.dw"), readNamed(whole, "layer1.dw")), 5 * std::ldexp(1, -9));
}

TEST(MicroBatchesTest, CachedWeightsGiveTheSameBits)
{
    for (const plan::RecipeKind recipe : {plan::RecipeKind::Tensorwise, plan::RecipeKind::Delayed}) {
        for (const char* mode : {"fp8", "fp8-fused"}) {
            MlpConfig config = inParts(withRecipe(smallConfig(), recipe), 5);
            config.fusionOverrides = {{"weight_cache", false}, {"optimizer_cast", false}};
            CpuExecutor every = executorFor(config, mode);
            config.fusionOverrides = {{"weight_cache", true}, {"optimizer_cast", false}};
            CpuExecutor cached = executorFor(config, mode);
            EXPECT_LT(cached.plan().ops.size(), every.plan().ops.size());
            EXPECT_EQ(losses(cached, 5), losses(every, 5)) << mode;
            expectSameState(every, cached);
        }
    }
}

TEST(CheckpointTest, RecomputedActivationsGiveTheSameBits)
{
    MlpConfig config = smallConfig();
    config.widths = {48, 64, 32, 32, 16};
    config.activation = plan::Activation::Gelu;
    for (const plan::RecipeKind recipe : {plan::RecipeKind::Tensorwise, plan::RecipeKind::Delayed}) {
        for (const char* mode : {"bf16", "fp8", "fp8-fused"}) {
            CpuExecutor keeping = executorFor(withRecipe(config, recipe), mode);
            const std::vector<double> expected = losses(keeping, 5);
            for (const int block : {1, 2, 4}) {
                MlpConfig recomputing = withRecipe(config, recipe);
                recomputing.checkpoint = block;
                CpuExecutor again = executorFor(recomputing, mode);
                EXPECT_GT(again.plan().ops.size(), keeping.plan().ops.size());
                EXPECT_EQ(losses(again, 5), expected) << mode << ", blocks of " << block;
                expectSameState(keeping, again);
            }
        }
    }
}

TEST(AlwaysDgradTest, ChangesNoWeight)
{
    MlpConfig config = smallConfig();
    CpuExecutor without = executorFor(config, "fp8-fused");
    config.alwaysDgrad = true;
    CpuExecutor with = executorFor(config, "fp8-fused");
    EXPECT_EQ(losses(with, 4), losses(without, 4));
    expectSameState(without, with);
}

}  // namespace
}  // namespace fp8scope::cpu
