// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/numerics_watch.h"

#include <gmock/gmock.h>

namespace fp8scope::worker {
namespace {

using ::testing::IsEmpty;

plan::StepPlan fp8Plan()
{
    plan::MlpConfig config;
    config.widths = {64, 32};
    config.batch = 32;
    return plan::buildPlan(config, "fp8");  // quantizes layer0.x, layer0.w, layer0.dy
}

cpu::StepResult stepWith(const std::vector<cpu::QuantizationStat>& stats)
{
    cpu::StepResult result;
    result.quantized = stats;
    return result;
}

TEST(NumericsWatchTest, WithinTheLimitsThereIsNothingToSay)
{
    const plan::StepPlan plan = fp8Plan();
    NumericsWatch watch(plan);
    const std::vector<cpu::QuantizationStat> stats(3, {.count = 10'000, .saturated = 10, .underflowed = 2'000});
    watch.see(stepWith(stats), 4, false);
    EXPECT_THAT(watch.diagnostics(), IsEmpty());
}

TEST(NumericsWatchTest, WhatPassesALimitIsCountedAndTheWorstNamed)
{
    const plan::StepPlan plan = fp8Plan();
    NumericsWatch watch(plan);
    std::vector<cpu::QuantizationStat> stats(3, {.count = 10'000});
    stats[0].saturated = 20;
    watch.see(stepWith(stats), 4, false);
    stats[2].saturated = 500;
    watch.see(stepWith(stats), 5, false);
    ASSERT_EQ(watch.diagnostics().size(), 1U);
    const wire::Diagnostic told = watch.diagnostics()[0];
    EXPECT_EQ(told.name, "saturation");
    EXPECT_EQ(told.count, 3U);
    EXPECT_EQ(told.text,
              "fp8: over 0.1% of a tensor's elements saturated in a step, at worst 5% of layer0.dy in step 5");
}

TEST(NumericsWatchTest, UnderflowHasItsOwn)
{
    const plan::StepPlan plan = fp8Plan();
    NumericsWatch watch(plan);
    watch.see(stepWith(std::vector<cpu::QuantizationStat>(3, {.count = 100, .underflowed = 21})), 1, false);
    ASSERT_EQ(watch.diagnostics().size(), 1U);
    EXPECT_EQ(watch.diagnostics()[0].name, "underflow");
}

TEST(NumericsWatchTest, WarmupDoesNotCount)
{
    const plan::StepPlan plan = fp8Plan();
    NumericsWatch watch(plan);
    watch.see(stepWith(std::vector<cpu::QuantizationStat>(3, {.count = 100, .saturated = 100})), 0, true);
    EXPECT_THAT(watch.diagnostics(), IsEmpty());
}

}  // namespace
}  // namespace fp8scope::worker
