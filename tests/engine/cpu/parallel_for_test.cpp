// SPDX-License-Identifier: Apache-2.0
// Splitting of loops: every element once, parts at multiples of the grain, exact reductions.
#include "engine/cpu/cpu_executor.h"

#include "engine/cpu/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace fp8scope::cpu {
namespace {

TEST(ParallelForTest, CoversEveryElementOnceInPartsOfTheGrain)
{
    const ThreadCount threads(3);
    for (const std::int64_t n : {0, 1, 63, 64, 65, 1000, 6400})
        for (const std::int64_t grain : {1, 64}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
            std::atomic<int> misplaced = 0;
            parallelFor(n, grain, [&](std::int64_t begin, std::int64_t end) {
                if (begin % grain != 0 || (end % grain != 0 && end != n))
                    ++misplaced;
                for (std::int64_t i = begin; i < end; ++i)
                    ++seen[static_cast<std::size_t>(i)];
            });
            EXPECT_EQ(misplaced, 0);
            for (const auto& count : seen)
                ASSERT_EQ(count, 1) << n << " by " << grain;
        }
}

TEST(ParallelForTest, ReducesToTheSameForAnyThreads)
{
    for (const int count : {1, 2, 5}) {
        const ThreadCount threads(count);
        const auto sum = parallelReduce(
            std::int64_t{1000}, 8, std::int64_t{0},
            [](std::int64_t begin, std::int64_t end) { return (begin + end - 1) * (end - begin) / 2; }, std::plus<>());
        EXPECT_EQ(sum, 999 * 1000 / 2);
    }
}

TEST(ParallelForTest, ThreadCountIsRestored)
{
    const int before = maxThreads();
    {
        const ThreadCount threads(before + 1);
    }
    EXPECT_EQ(maxThreads(), before);
}

TEST(CpuInfoTest, DescribesThisMachine)
{
    const CpuInfo info = cpuInfo();
    EXPECT_FALSE(info.name.empty());
    EXPECT_EQ(info.level, vectorLevel());
    EXPECT_GE(info.cores, 1);
    EXPECT_GT(info.memoryBytes, 0U);
    EXPECT_GT(info.availableBytes, 0U);
    EXPECT_LE(info.availableBytes, info.memoryBytes);
}

}  // namespace
}  // namespace fp8scope::cpu
