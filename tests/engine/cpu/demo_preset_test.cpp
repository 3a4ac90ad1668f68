// SPDX-License-Identifier: Apache-2.0
// The demo preset, trained as it is: the loss falls clearly, and fp8 ends within 2% of bf16.
#include "engine/cpu/cpu_executor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace fp8scope::cpu {
namespace {

plan::MlpConfig demoConfig()
{
    std::ifstream in(FP8SCOPE_DEMO_PRESET);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return plan::parseConfig(text, "demo.toml");
}

struct Losses {
    double first = 0, last = 0;
};

Losses train(const plan::MlpConfig& config, const std::string& mode)
{
    CpuExecutor executor(plan::buildPlan(config, mode));
    Losses losses;
    for (int step = 0; step < config.warmup + config.steps; ++step) {
        losses.last = executor.runStep().loss;
        if (step == 0)
            losses.first = losses.last;
    }
    return losses;
}

TEST(DemoPresetTest, ShowsALayerThatStaysInBf16AndOneThatIsNarrow)
{
    const plan::StepPlan plan = plan::buildPlan(demoConfig(), "fp8");
    ASSERT_GE(plan.layers.size(), 3U);
    EXPECT_FALSE(plan.layers.back().fp8);
    EXPECT_NE(plan.layers.back().reason, "");
    EXPECT_TRUE(plan.layers[plan.layers.size() - 2].fp8);
    EXPECT_LE(plan.layers[plan.layers.size() - 2].outFeatures, 128);
}

TEST(DemoPresetTest, EveryModeLearnsAndFp8EndsWithinTwoPercentOfBf16)
{
    const plan::MlpConfig tensorwise = demoConfig();
    plan::MlpConfig delayed = tensorwise;
    delayed.recipe.kind = plan::RecipeKind::Delayed;

    const Losses bf16 = train(tensorwise, "bf16");
    EXPECT_LT(bf16.last, 0.3 * bf16.first);
    for (const auto& [config, mode] :
         {std::pair{tensorwise, "fp8"}, {tensorwise, "fp8-fused"}, {delayed, "fp8-fused"}}) {
        const Losses fp8 = train(config, mode);
        EXPECT_NEAR(fp8.last, bf16.last, 0.02 * bf16.last) << mode << ", " << plan::toString(config.recipe.kind);
    }
}

}  // namespace
}  // namespace fp8scope::cpu
