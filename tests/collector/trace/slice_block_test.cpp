// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/slice_block.h"

#include "collector/trace/slice_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fp8scope {
namespace {

constexpr BlockLimits kLimits{1000, 1000, 1000};

struct Decoded {
    std::vector<SliceRecord> slices;
    BlockOrder order;
};

Decoded decode(std::span<const std::byte> data, const BlockRow& row, const BlockLimits& limits = kLimits)
{
    const std::size_t n = row.n;
    std::vector<std::int64_t> start(n), dur(n);
    std::vector<NameId> name(n);
    std::vector<OpId> op(n);
    std::vector<std::uint64_t> correlation(n), bytes(n);
    std::vector<LaunchShapeId> shape(n);
    BlockDecoder decoder;
    Decoded decoded;
    decoded.order = decoder.decode(
        data, row, limits,
        {start.data(), dur.data(), name.data(), op.data(), correlation.data(), shape.data(), bytes.data()});
    for (std::size_t i = 0; i < n; ++i)
        decoded.slices.push_back({start[i], dur[i], name[i], op[i], correlation[i], shape[i], bytes[i]});
    return decoded;
}

BlockRow rowOf(const BlockEncoder::Block& block, std::size_t n)
{
    return {static_cast<std::uint32_t>(n), block.columns, block.firstNs, block.lastNs};
}

std::vector<SliceRecord> roundTrip(const std::vector<SliceRecord>& slices)
{
    BlockEncoder encoder;
    const BlockEncoder::Block block = encoder.encode(slices);
    return decode(block.data, rowOf(block, slices.size())).slices;
}

SliceRecord slice(std::int64_t start, std::int64_t dur, std::uint32_t name = 0)
{
    return {start, dur, NameId(name), {}, 0, {}, 0};
}

TEST(SliceBlock, OneSliceComesBack)
{
    const std::vector<SliceRecord> slices{{-7, 3, NameId(2), OpId(4), 6, LaunchShapeId(5), 8}};
    EXPECT_EQ(roundTrip(slices), slices);
}

TEST(SliceBlock, TheExtremesComeBack)
{
    const std::vector<SliceRecord> slices{
        {-kMaxTimeNs, kMaxTimeNs - 1, NameId(0), OpId(), UINT64_MAX, LaunchShapeId(), UINT64_MAX},
        {-1, 0, NameId(999), OpId(999), 0, LaunchShapeId(999), 0},
        {kMaxTimeNs - 1, kMaxTimeNs - 1, NameId(1), OpId(0), 1, LaunchShapeId(0), 1}};
    EXPECT_EQ(roundTrip(slices), slices);
}

TEST(SliceBlock, RandomSlicesOfEveryMagnitudeComeBackSorted)
{
    std::mt19937_64 random(1);
    for (int round = 0; round < 60; ++round) {
        const int timeBits = 1 + round;
        std::vector<SliceRecord> slices(1 + random() % 3000);
        for (SliceRecord& s : slices)
            s = {static_cast<std::int64_t>(random() >> (64 - timeBits)),
                 static_cast<std::int64_t>(random() >> (64 - timeBits)),
                 NameId(static_cast<std::uint32_t>(random() % 1000)),
                 random() % 3 == 0 ? OpId() : OpId(static_cast<std::uint32_t>(random() % 1000)),
                 random() >> (random() % 64),
                 random() % 2 == 0 ? LaunchShapeId() : LaunchShapeId(static_cast<std::uint32_t>(random() % 1000)),
                 random() >> (random() % 64)};
        std::vector<SliceRecord> sorted = slices;
        std::stable_sort(sorted.begin(), sorted.end(), [](const SliceRecord& a, const SliceRecord& b) {
            return a.startNs != b.startNs ? a.startNs < b.startNs : a.durNs > b.durNs;
        });
        EXPECT_EQ(roundTrip(slices), sorted) << "round " << round;
    }
}

TEST(SliceBlock, AFullBlockOfARegularQueueIsTiny)
{
    std::vector<SliceRecord> slices;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kMaxBlockSlices); ++i)
        slices.push_back(slice(1000 * i, 900, static_cast<std::uint32_t>(i % 4)));
    BlockEncoder encoder;
    EXPECT_LT(encoder.encode(slices).data.size(), 1000U);
    EXPECT_EQ(roundTrip(slices), slices);
}

TEST(SliceBlock, OrderTellsWhetherSlicesFollowOneAnother)
{
    const auto orderOf = [](const std::vector<SliceRecord>& slices) {
        BlockEncoder encoder;
        const BlockEncoder::Block block = encoder.encode(slices);
        return decode(block.data, rowOf(block, slices.size())).order;
    };
    EXPECT_TRUE(orderOf({slice(0, 10), slice(10, 5), slice(20, 0), slice(21, 1)}).oneAfterAnother);
    EXPECT_FALSE(orderOf({slice(0, 10), slice(9, 5)}).oneAfterAnother);
    EXPECT_FALSE(orderOf({slice(0, 0), slice(0, 0)}).oneAfterAnother) << "equal starts need lanes or sorting looked at";
    EXPECT_EQ(orderOf({slice(0, 10), slice(10, 5)}).freeNs, 15);
    EXPECT_EQ(orderOf({slice(0, 10), slice(20, 0)}).freeNs, 21) << "an instant must not be followed at its own time";
}

TEST(SliceBlock, OnlyWantedColumnsAreWritten)
{
    const std::vector<SliceRecord> slices{slice(3, 4, 5), slice(9, 4, 6)};
    BlockEncoder encoder;
    const BlockEncoder::Block block = encoder.encode(slices);
    std::vector<NameId> names(2);
    BlockDecoder decoder;
    (void)decoder.decode(block.data, rowOf(block, 2), kLimits, {.name = names.data()});
    EXPECT_EQ(names, (std::vector{NameId(5), NameId(6)}));
}

class BadSliceBlock : public testing::Test {
protected:
    BadSliceBlock()
    {
        const BlockEncoder::Block block = m_encoder.encode(m_slices);
        m_data.assign(block.data.begin(), block.data.end());
        m_row = rowOf(block, m_slices.size());
    }
    [[nodiscard]] std::string complaint() const { return complaint(m_data, m_row, kLimits); }
    static std::string complaint(std::span<const std::byte> data, const BlockRow& row, const BlockLimits& limits)
    {
        try {
            (void)decode(data, row, limits);
        } catch (const BadBlock& e) {
            return e.what();
        }
        return "none";
    }

    std::vector<SliceRecord> m_slices{{5, 10, NameId(7), OpId(8), 1, LaunchShapeId(9), 0},
                                      {20, 10, NameId(6), OpId(), 2, LaunchShapeId(9), 0}};
    BlockEncoder m_encoder;
    std::vector<std::byte> m_data;
    BlockRow m_row;
};

TEST_F(BadSliceBlock, EveryTruncationIsRefused)
{
    for (std::size_t size = 0; size < m_data.size(); ++size)
        EXPECT_NE(complaint(std::span(m_data).first(size), m_row, kLimits), "none") << size;
    m_data.push_back(std::byte{0});
    EXPECT_EQ(complaint(), "has bytes left over");
}

TEST_F(BadSliceBlock, ANewerVersionIsRefused)
{
    m_data[2] = std::byte{2};
    EXPECT_EQ(complaint(), "is of an unknown block version");
}

TEST_F(BadSliceBlock, ReferencesBeyondTheTablesAreRefused)
{
    EXPECT_EQ(complaint(m_data, m_row, {8, 9, 10}), "none");
    EXPECT_EQ(complaint(m_data, m_row, {7, 9, 10}), "refers to a row that does not exist");
    EXPECT_EQ(complaint(m_data, m_row, {8, 8, 10}), "refers to a row that does not exist");
    EXPECT_EQ(complaint(m_data, m_row, {8, 9, 9}), "refers to a row that does not exist");
}

TEST_F(BadSliceBlock, ARowThatSaysOtherwiseIsRefused)
{
    BlockRow row = m_row;
    row.n = 3;
    EXPECT_EQ(complaint(m_data, row, kLimits), "disagrees with its row on the slices' number");
    row = m_row;
    row.columns |= bit(BlockColumn::Bytes);
    EXPECT_EQ(complaint(m_data, row, kLimits), "disagrees with its row on the columns");
    row = m_row;
    row.lastNs = 31;
    EXPECT_EQ(complaint(m_data, row, kLimits), "disagrees with its row on the time range");
}

/// Every byte of a block, with every bit flipped: refused, or harmless (a bit of a zstd header that changes nothing).
TEST_F(BadSliceBlock, NoBitFlipGivesOtherSlices)
{
    for (std::size_t i = 0; i < m_data.size(); ++i) {
        for (int b = 0; b < 8; ++b) {
            std::vector<std::byte> flipped = m_data;
            flipped[i] ^= std::byte{1} << b;
            try {
                const std::vector<SliceRecord> slices = decode(flipped, m_row).slices;
                const bool constantChanged =
                    slices[0].op != m_slices[0].op || slices[0].launchShape != m_slices[0].launchShape ||
                    slices[0].name != m_slices[0].name || slices[0].durNs != m_slices[0].durNs ||
                    slices[0].correlation != m_slices[0].correlation;
                EXPECT_TRUE(slices == m_slices || constantChanged) << "byte " << i << " bit " << b;
            } catch (const BadBlock&) {
            }
        }
    }
}

}  // namespace
}  // namespace fp8scope
