// SPDX-License-Identifier: Apache-2.0
// The arena of real plans: live tensors never share bytes, the arena is close to what lifetimes allow, classes are told
// apart.
#include "engine/plan/memory_planner.h"

#include "tests/engine/plan/plan_support.h"

#include <gtest/gtest.h>

#include <random>

namespace fp8scope::plan {
namespace {

/// Tensors of a plan that hold bytes of their own, by offset.
std::vector<const Tensor*> owners(const StepPlan& plan)
{
    std::vector<const Tensor*> all;
    for (const Tensor& tensor : plan.tensors) {
        if (!tensor.viewOf.valid())
            all.push_back(&tensor);
    }
    return all;
}

bool liveTogether(const Tensor& a, const Tensor& b)
{
    return a.persistent || b.persistent || (a.firstUse <= b.lastUse && b.firstUse <= a.lastUse);
}

void expectSound(const StepPlan& plan)
{
    const auto tensors = owners(plan);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& a = *tensors[i];
        ASSERT_EQ(a.offset % 256, 0U) << a.name;
        ASSERT_LE(a.offset + a.bytes(), plan.arenaBytes) << a.name;
        for (std::size_t j = i + 1; j < tensors.size(); ++j) {
            const Tensor& b = *tensors[j];
            const bool apart = a.offset + a.bytes() <= b.offset || b.offset + b.bytes() <= a.offset;
            ASSERT_TRUE(apart || !liveTogether(a, b)) << a.name << " and " << b.name;
        }
    }
}

MlpConfig randomConfig(std::mt19937& random)
{
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
    };
    std::vector<std::int64_t> widths;
    for (std::int64_t i = 0, count = 2 + below(6); i < count; ++i)
        widths.push_back(below(4) == 0 ? 1 + below(100) : 16 * (1 + below(40)));
    MlpConfig config = configOf(widths, below(4) == 0 ? 24 : 16 * (1 + below(16)));
    config.bias = below(2) == 0;
    config.activation = static_cast<Activation>(below(3));
    config.optimizer.kind = static_cast<OptimizerKind>(below(2));
    config.recipe.kind = static_cast<RecipeKind>(below(2));
    if (config.recipe.kind == RecipeKind::Delayed)
        config.recipe.historyLength = 16;
    return config;
}

TEST(MemoryPlannerTest, LiveTensorsShareNoByteInRandomPlans)
{
    std::mt19937 random(1);
    for (int i = 0; i < 40; ++i) {
        const MlpConfig config = randomConfig(random);
        for (const char* mode : {"bf16", "fp8", "fp8-fused"}) {
            SCOPED_TRACE(toToml(config) + mode);
            expectSound(buildPlan(config, mode));
        }
    }
}

TEST(MemoryPlannerTest, ArenaIsWithinFivePercentOfTheLifetimesBound)
{
    for (const auto& widths : std::vector<std::vector<std::int64_t>>{{1024, 1024, 1024},
                                                                     {784, 2048, 2048, 2048, 10},
                                                                     std::vector<std::int64_t>(9, 1024),
                                                                     std::vector<std::int64_t>(41, 512)}) {
        for (const std::int64_t batch : {256, 4096}) {
            for (const char* mode : {"bf16", "fp8", "fp8-fused"}) {
                for (const MlpConfig& config : {configOf(widths, batch), delayed(configOf(widths, batch))}) {
                    const StepPlan plan = buildPlan(config, mode);
                    const std::size_t bound = lifetimeLowerBound(plan);
                    EXPECT_GE(plan.arenaBytes, bound);
                    EXPECT_LE(static_cast<double>(plan.arenaBytes), 1.05 * static_cast<double>(bound))
                        << toToml(config) << mode;
                }
            }
        }
    }
}

TEST(MemoryPlannerTest, WhatIsReadAfterTheStepLivesToItsEnd)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 16}, 32), "fp8");
    const int last = static_cast<int>(plan.ops.size()) - 1;
    EXPECT_EQ(plan.tensor(plan.loss).lastUse, last);
    for (const QuantizedTensor& entry : plan.quantized) {
        EXPECT_EQ(plan.tensor(entry.amax).lastUse, last);
        EXPECT_EQ(plan.tensor(entry.scale).lastUse, last);
    }
}

TEST(MemoryPlannerTest, KeptTensorsShareNothing)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 16}, 32), "fp8", {.keepTensors = true});
    auto tensors = owners(plan);
    std::sort(tensors.begin(), tensors.end(), [](const Tensor* a, const Tensor* b) { return a->offset < b->offset; });
    for (std::size_t i = 1; i < tensors.size(); ++i)
        EXPECT_LE(tensors[i - 1]->offset + tensors[i - 1]->bytes(), tensors[i]->offset);
    EXPECT_GT(plan.arenaBytes, buildPlan(configOf({64, 32, 16}, 32), "fp8").arenaBytes);
}

TEST(MemoryPlannerTest, ClassesTellWhatFillsTheArena)
{
    const auto bytesOf = [](const StepPlan& plan, std::string_view name) {
        for (const MemoryUse& use : memoryByClass(plan)) {
            if (use.name == name)
                return use.bytes;
        }
        return std::size_t{0};
    };
    const MlpConfig config = configOf({64, 32, 16}, 128);
    const StepPlan bf16 = buildPlan(config, "bf16");
    const std::size_t parameters = 64 * 32 + 32 + 32 * 16 + 16;
    EXPECT_EQ(bytesOf(bf16, "weights"), 2 * parameters);
    EXPECT_EQ(bytesOf(bf16, "master weights"), 4 * parameters);
    EXPECT_EQ(bytesOf(bf16, "optimizer state"), 8 * parameters + 2 * 4);  // mean, variance; two step counts
    EXPECT_EQ(bytesOf(bf16, "activations"), 2U * 128 * (32 + 32 + 16));   // z0, x1, z1
    EXPECT_EQ(bytesOf(bf16, "fp8 copies"), 0U);
    const StepPlan fused = buildPlan(config, "fp8-fused");
    EXPECT_EQ(bytesOf(fused, "fp8 transposes"), 128U * 64 + 128 * 32 + 32 * 16 + 128 * 16);  // x0, x1, w1, dy1
}

}  // namespace
}  // namespace fp8scope::plan
