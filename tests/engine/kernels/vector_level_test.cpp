// SPDX-License-Identifier: Apache-2.0
// The choice of the vector level.
#include "kernel_inputs.h"

#include "collector/trace/error.h"

namespace fp8scope::kernels {
namespace {

TEST(VectorLevel, TheLimitLowersButNeverRaises)
{
    const VectorLevel best = vectorLevelFor("");
    EXPECT_EQ(vectorLevelFor("portable"), VectorLevel::Portable);
    EXPECT_EQ(vectorLevelFor("avx2"), std::min(best, VectorLevel::Avx2));
    EXPECT_EQ(vectorLevelFor("avx512"), best);
}

TEST(VectorLevel, AnUnknownWordIsRefusedWithTheKnownOnes)
{
    try {
        static_cast<void>(vectorLevelFor("sse9"));
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "FP8SCOPE_SIMD: \"sse9\" is not a vector level; use portable, avx2 or avx512, or unset it");
    }
}

TEST(VectorLevel, EachTableIsOfItsLevel)
{
    for (const VectorLevel level : test::availableLevels())
        EXPECT_EQ(cpuKernels(level).level, level);
}

}  // namespace
}  // namespace fp8scope::kernels
