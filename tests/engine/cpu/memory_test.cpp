// SPDX-License-Identifier: Apache-2.0
// What plans say of memory against what the executor has.
#include "tests/engine/cpu/small_configs.h"

#include "collector/trace/error.h"
#include "engine/cpu/run_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::cpu {
namespace {

std::size_t bytesOf(const std::vector<plan::MemoryUse>& uses, const std::string& name)
{
    for (const plan::MemoryUse& use : uses)
        if (use.name == name)
            return use.bytes;
    throw std::runtime_error("no memory class " + name);
}

std::size_t sumOf(const std::vector<plan::MemoryUse>& uses)
{
    std::size_t sum = 0;
    for (const plan::MemoryUse& use : uses)
        sum += use.bytes;
    return sum;
}

TEST(MemoryTest, ThePlansFiguresAreWhatTheExecutorAllocates)
{
    for (const int parts : {1, 5}) {
        plan::MlpConfig config = smallConfig();
        config.microBatches = parts;
        for (const char* mode : {"bf16", "fp8", "fp8-fused"}) {
            CpuExecutor executor = executorFor(config, mode);
            const std::vector<plan::MemoryUse> allocated = executor.allocated();
            EXPECT_EQ(bytesOf(allocated, "arena"), executor.plan().arenaBytes);
            for (const plan::MemoryUse& use : memoryOutsideArena(executor.plan()))
                EXPECT_EQ(bytesOf(allocated, use.name), use.bytes) << use.name;
            EXPECT_GE(bytesNeeded(executor.plan()), sumOf(allocated));
            // No arena is smaller than what is live at once; this one is little larger, roundings to 256 included.
            const std::size_t live = sumOf(plan::memoryAtPeak(executor.plan()));
            EXPECT_GE(executor.plan().arenaBytes, live);
            EXPECT_LE(executor.plan().arenaBytes, live + live / 10 + 256 * executor.plan().tensors.size());
        }
    }
}

TEST(MemoryTest, TheFp8CopiesAreOneByteAnElementEach)
{
    plan::MlpConfig config = smallConfig();
    config.widths = {64, 64, 64};
    config.batch = 64;
    config.datasetBatches = 1;
    const auto copies = [&](const char* mode, const char* name) {
        return bytesOf(plan::memoryByClass(plan::buildPlan(config, mode)), name);
    };
    EXPECT_EQ(copies("bf16", "fp8 copies"), 0U);
    EXPECT_EQ(copies("bf16", "fp8 transposes"), 0U);
    // Eager: at most two operands of one GEMM. Fused: transposes stay until backward. 64 x 64 bytes each.
    EXPECT_EQ(copies("fp8", "fp8 copies"), 2U * 64 * 64);
    EXPECT_EQ(copies("fp8", "fp8 transposes"), 2U * 64 * 64);
    EXPECT_GE(copies("fp8-fused", "fp8 transposes"), 3U * 64 * 64);
}

TEST(RunCostTest, WhatIsTooLargeIsRefusedWithBytesAndHours)
{
    plan::MlpConfig config = smallConfig();
    config.steps = 1'000'000;
    const std::vector<plan::StepPlan> plans{plan::buildPlan(config, "bf16")};
    const RunCost cost = runCost(plans, 1);
    EXPECT_GT(cost.flopsPerSecond, 1e8);
    EXPECT_EQ(cost.bytes, bytesNeeded(plans[0]));
    EXPECT_GT(cost.seconds, cost.flops / cost.flopsPerSecond);
    EXPECT_NO_THROW(refuseTooLarge(plans, 1e6, 1));
    try {
        refuseTooLarge(plans, 1e-6, 1);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("too large for this CPU: it needs " + std::to_string(cost.bytes) +
                                                     " bytes of memory"));
        EXPECT_THAT(error.what(), testing::HasSubstr("GFLOP/s, measured"));
        EXPECT_THAT(error.what(), testing::HasSubstr("at most 1e-06 hours are allowed"));
        EXPECT_THAT(error.what(), testing::HasSubstr("raise --max-hours"));
    }
}

}  // namespace
}  // namespace fp8scope::cpu
