// SPDX-License-Identifier: Apache-2.0
// Ranks of a job beside each other: waiting is told from working by the rank that came last.
#include "app/analysis/ranks.h"

#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fp8scope::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Each rank computes for so long and then takes part in an all-reduce that takes 100 ns once all have come. Clocks of
/// the ranks differ by hours.
Trace job(const std::vector<std::int64_t>& computeNs)
{
    const std::int64_t slowest = *std::max_element(computeNs.begin(), computeNs.end());
    test::TraceBuilder b;
    for (std::size_t rank = 0; rank < computeNs.size(); ++rank) {
        b.run("rank " + std::to_string(rank), Origin::Imported).track("stream 7");
        const std::int64_t clock = static_cast<std::int64_t>(rank) * 3'600'000'000'000;
        for (int step = 0; step < 3; ++step) {
            const std::int64_t start = clock + step * 10000;
            b.step(static_cast<std::uint32_t>(step + 7), start, 10000);
            b.slice(start, computeNs[rank], "gemm", Role::Gemm, Precision::Bf16);
            b.slice(start + computeNs[rank], slowest - computeNs[rank] + 100, "ncclDevKernel_AllReduce_Sum(args)",
                    Role::Comm);
        }
    }
    return b.build();
}

RankComparison compared(const Trace& trace) { return compareRanks(trace, breakdowns(trace)); }

TEST(Ranks, WhoComesLastWorksAndTheOthersWait)
{
    const RankComparison c = compared(job({5000, 5000, 9000, 5000}));
    ASSERT_THAT(c.ranks, SizeIs(4));
    EXPECT_EQ(c.ranks[0].waitingNs, 4000);
    EXPECT_EQ(c.ranks[2].waitingNs, 0);
    EXPECT_EQ(c.ranks[2].collectivesNs, 100);
    EXPECT_TRUE(c.ranks[2].straggler);
    EXPECT_FALSE(c.ranks[0].straggler);
    ASSERT_THAT(c.collectives, SizeIs(1));
    EXPECT_EQ(c.collectives[0].name, "ncclDevKernel_AllReduce_Sum");
    EXPECT_EQ(c.collectives[0].matched, 3U);
    EXPECT_EQ(c.collectives[0].workingNs, 300);
    EXPECT_EQ(c.collectives[0].waitingNs, 3 * 3 * 4000);
    EXPECT_EQ(c.collectives[0].lastRank, 2);
    EXPECT_DOUBLE_EQ(c.collectives[0].lastShare, 1);
    EXPECT_EQ(c.unmatched, 0U);
    EXPECT_THAT(c.verdict, HasSubstr("wait for rank 2"));
}

TEST(Ranks, ExposedTimesOfARankAddUpToItsStep)
{
    for (const RankRow& r : compared(job({5000, 9000})).ranks)
        EXPECT_EQ(r.computeNs + r.communicationNs + r.memoryNs + r.idleNs, r.stepNs);
}

TEST(Ranks, EvenRanksHaveNoStraggler)
{
    const RankComparison c = compared(job({5000, 5010, 4990, 5000}));
    for (const RankRow& r : c.ranks)
        EXPECT_FALSE(r.straggler) << r.rank;
    EXPECT_THAT(c.verdict, HasSubstr("No rank holds the others up"));
}

TEST(Ranks, CollectivesOfOneRankAloneAreCountedAsUnmatched)
{
    test::TraceBuilder b;
    for (int rank = 0; rank < 2; ++rank) {
        b.run("rank " + std::to_string(rank), Origin::Imported).track("stream 7").step(0, 0, 1000);
        b.slice(0, 100, rank == 0 ? "ncclSend" : "ncclBroadcast", Role::Comm);
    }
    const RankComparison c = compared(b.build());
    EXPECT_EQ(c.unmatched, 2U);
    EXPECT_THAT(c.collectives, IsEmpty());
    EXPECT_THAT(c.verdict, HasSubstr("cannot be told"));
}

TEST(Ranks, ModesOfOneRunAreNoRanks)
{
    test::TraceBuilder b;
    b.run("bf16").track("queue").slice(0, 10, "gemm").step(0, 0, 10);
    b.run("fp8").track("queue").slice(0, 10, "gemm").step(0, 0, 10);
    EXPECT_THAT(compared(b.build()).ranks, IsEmpty());
}

}  // namespace
}  // namespace fp8scope::analysis
