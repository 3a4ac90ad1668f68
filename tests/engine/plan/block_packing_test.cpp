// SPDX-License-Identifier: Apache-2.0
// Packing on random blocks: nothing overlaps, whatever the strategy, and known optimal cases are found.
#include "engine/plan/block_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fp8scope::plan {
namespace {

std::vector<Block> randomBlocks(std::size_t count, int ops, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<Block> blocks;
    for (std::size_t b = 0; b < count; ++b) {
        const int first = static_cast<int>(random() % static_cast<unsigned>(ops));
        const int length = random() % 8 == 0 ? ops : 1 + static_cast<int>(random() % 4);
        const std::size_t bytes = 256 * (random() % 3 == 0 ? 1 : 1 + random() % 64);
        blocks.push_back({first, std::min(ops - 1, first + length), bytes});
    }
    return blocks;
}

void expectNoOverlap(const std::vector<Block>& blocks, std::size_t height)
{
    for (std::size_t a = 0; a < blocks.size(); ++a) {
        ASSERT_LE(blocks[a].offset + blocks[a].bytes, height);
        ASSERT_EQ(blocks[a].offset % 256, 0U);
        for (std::size_t b = a + 1; b < blocks.size(); ++b) {
            const bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
            const bool apart = blocks[a].offset + blocks[a].bytes <= blocks[b].offset ||
                               blocks[b].offset + blocks[b].bytes <= blocks[a].offset;
            ASSERT_TRUE(apart || !together) << a << " and " << b;
        }
    }
}

TEST(BlockPackingTest, BlocksThatLiveTogetherShareNoByte)
{
    for (unsigned seed = 0; seed < 4; ++seed) {
        for (const std::size_t count : {1U, 40U, 350U, 600U, 1700U}) {  // repaired, largest first, and along time
            std::vector<Block> blocks = randomBlocks(count, 200, seed);
            const std::size_t height = packBlocks(blocks, 200, 256);
            SCOPED_TRACE(testing::Message() << count << " blocks, seed " << seed);
            expectNoOverlap(blocks, height);
            EXPECT_GE(height, mostBytesAtOnce(blocks, 200));
        }
    }
}

TEST(BlockPackingTest, NestedLifetimesPackPerfectly)
{
    std::vector<Block> blocks;  // activations: the first made is the last used
    for (int i = 0; i < 50; ++i)
        blocks.push_back({i, 200 - i, static_cast<std::size_t>(256 * (1 + i % 7))});
    EXPECT_EQ(packBlocks(blocks, 201, 256), mostBytesAtOnce(blocks, 201));
}

TEST(BlockPackingTest, ChainOfTemporariesNeedsTwo)
{
    std::vector<Block> blocks;
    for (int i = 0; i < 10; ++i)
        blocks.push_back({i, i + 1, 1024});
    EXPECT_EQ(packBlocks(blocks, 11, 256), 2048U);
}

TEST(BlockPackingTest, NothingNeedsNothing)
{
    std::vector<Block> none;
    EXPECT_EQ(packBlocks(none, 10, 256), 0U);
}

TEST(BlockPackingTest, TheBoundIsTheBusiestMoment)
{
    EXPECT_EQ(mostBytesAtOnce({{0, 2, 256}, {2, 3, 512}, {3, 3, 1024}}, 4), 1536U);
}

}  // namespace
}  // namespace fp8scope::plan
