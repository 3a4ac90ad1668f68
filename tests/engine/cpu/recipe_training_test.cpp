// SPDX-License-Identifier: Apache-2.0
// Every recipe trains the demo preset's net to bf16's loss, from five seeds. The preset's batch and steps are cut to
// 256 rows and 30 steps, so that 35 trainings take about a minute of processor time: as it is, they would take over
// ten.
#include "engine/cpu/cpu_executor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace fp8scope::cpu {
namespace {

constexpr int kSeeds = 5;

plan::MlpConfig demoConfig(std::uint64_t seed)
{
    std::ifstream in(FP8SCOPE_DEMO_PRESET);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    plan::MlpConfig config = plan::parseConfig(text, "demo.toml");
    config.seed = seed;
    config.batch = 256;
    config.steps = 25;
    return config;
}

/// The mean of the losses on all batches of the data set, the last ones seen: less noisy than the last step's alone.
double finalLoss(const plan::MlpConfig& config, const std::string& mode)
{
    CpuExecutor executor(plan::buildPlan(config, mode));
    const int steps = config.warmup + config.steps;
    double sum = 0;
    for (int step = 0; step < steps; ++step) {
        const double loss = executor.runStep().loss;
        sum += step >= steps - config.datasetBatches ? loss : 0;
    }
    return sum / config.datasetBatches;
}

/// Relative distance to bf16 that the recipe may end at.
double toleranceOf(plan::RecipeKind recipe)
{
    return recipe == plan::RecipeKind::Blockwise || recipe == plan::RecipeKind::Mxfp8 ? 0.02 : 0.03;
}

/// By seed, trained once.
double bf16Loss(int seed)
{
    static std::map<int, double> losses;
    const auto known = losses.find(seed);
    if (known != losses.end())
        return known->second;
    return losses[seed] = finalLoss(demoConfig(static_cast<std::uint64_t>(seed)), "bf16");
}

class RecipeTraining : public testing::TestWithParam<plan::RecipeKind> {};

TEST_P(RecipeTraining, EndsWithBf16FromEverySeed)
{
    for (int seed = 1; seed <= kSeeds; ++seed) {
        plan::MlpConfig config = demoConfig(static_cast<std::uint64_t>(seed));
        config.recipe.kind = GetParam();
        const double distance = finalLoss(config, "fp8-fused") / bf16Loss(seed) - 1;
        fmt::print("{}, seed {}: {:+.2f}% of bf16\n", plan::toString(GetParam()), seed, 100 * distance);
        EXPECT_LT(std::abs(distance), toleranceOf(GetParam())) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Recipes, RecipeTraining,
                         testing::Values(plan::RecipeKind::Tensorwise, plan::RecipeKind::Delayed,
                                         plan::RecipeKind::Rowwise, plan::RecipeKind::RowwiseWithGwHp,
                                         plan::RecipeKind::Blockwise, plan::RecipeKind::Mxfp8),
                         [](const auto& test) { return std::string(plan::toString(test.param)); });

}  // namespace
}  // namespace fp8scope::cpu
