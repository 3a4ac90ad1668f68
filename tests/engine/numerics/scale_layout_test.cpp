// SPDX-License-Identifier: Apache-2.0
// Where cuBLASLt wants the scales of an operand.
#include "engine/numerics/scale_layout.h"

#include <gtest/gtest.h>

#include <set>

namespace fp8scope {
namespace {

constexpr ScaleMode kModes[] = {ScaleMode::Scalar32F, ScaleMode::Vec32Ue8m0, ScaleMode::OuterVec32F,
                                ScaleMode::Vec128_32F, ScaleMode::Blk128x128_32F};

TEST(ScaleLayout, EveryBlockHasAPlaceOfItsOwn)
{
    for (const ScaleMode mode : kModes)
        for (const std::int64_t outer : {1, 31, 128, 200, 333})
            for (const std::int64_t inner : {16, 32, 96, 128, 272, 640})
                for (const bool swizzled : {false, true}) {
                    const ScaleLayout layout{mode, outer, inner, swizzled};
                    const std::int64_t stored = layout.storedRows() * layout.storedCols();
                    std::set<std::int64_t> places;
                    for (std::int64_t o = 0; o < layout.outerBlocks(); ++o)
                        for (std::int64_t i = 0; i < layout.innerBlocks(); ++i) {
                            ASSERT_LT(layout.index(o, i), stored);
                            ASSERT_TRUE(places.insert(layout.index(o, i)).second);
                        }
                    EXPECT_EQ(layout.padded(), stored != static_cast<std::int64_t>(places.size()));
                }
}

TEST(ScaleLayout, VectorsOf128AreOuterMajor)
{
    constexpr ScaleLayout kLayout{ScaleMode::Vec128_32F, 48, 300};
    EXPECT_EQ(kLayout.innerBlocks(), 3);
    EXPECT_EQ(kLayout.storedRows(), 3);
    EXPECT_EQ(kLayout.storedCols(), 48);
    EXPECT_EQ(kLayout.index(5, 2), 2 * 48 + 5);
}

TEST(ScaleLayout, SquareBlocksHaveAStrideThatIsAMultipleOfFour)
{
    constexpr ScaleLayout kLayout{ScaleMode::Blk128x128_32F, 300, 640};
    EXPECT_EQ(kLayout.outerBlocks(), 3);
    EXPECT_EQ(kLayout.innerBlocks(), 5);
    EXPECT_EQ(kLayout.storedCols(), 8);
    EXPECT_EQ(kLayout.index(2, 4), 2 * 8 + 4);
    EXPECT_TRUE(kLayout.padded());
}

TEST(ScaleLayout, Mxfp8ScalesAreSwizzledInTilesOf128Times4)
{
    constexpr ScaleLayout kLayout{ScaleMode::Vec32Ue8m0, 256, 256};
    EXPECT_EQ(kLayout.storedRows(), 256);
    EXPECT_EQ(kLayout.storedCols(), 8);
    EXPECT_EQ(kLayout.index(0, 0), 0);
    EXPECT_EQ(kLayout.index(0, 3), 3);
    EXPECT_EQ(kLayout.index(1, 0), 16);  // the next row, sixteen bytes on
    EXPECT_EQ(kLayout.index(32, 0), 4);  // row 32 beside row 0
    EXPECT_EQ(kLayout.index(127, 3), 511);
    EXPECT_EQ(kLayout.index(0, 4), 512);  // the next tile along k
    EXPECT_EQ(kLayout.index(128, 0), 1024);
    EXPECT_EQ(kLayout.index(170, 6), 1024 + 512 + 10 * 16 + 1 * 4 + 2);
}

}  // namespace
}  // namespace fp8scope
