// SPDX-License-Identifier: Apache-2.0
// What people have found out the hard way, as questions to the model (facts: torchao #685, #2262 and PR 1459).
#include "engine/predict/linear.h"

#include <gtest/gtest.h>

namespace fp8scope::predict {
namespace {

LinearTime onH100(LinearShape shape, Quantization way, Pass pass = Pass::Training)
{
    static const DeviceTable table = builtInDevices();
    return predictLinear(table.find("h100-sxm"),
                         {.shape = shape, .quantization = way, .pass = pass, .clock = Clock::Steady});
}

TEST(LinearTest, EagerFp8IsSlowerThanBf16OnASmallModel)
{
    EXPECT_EQ(onH100({.m = 4096, .n = 4096, .k = 4096}, Quantization::Eager).verdict(), Verdict::NotWorthIt);
    EXPECT_EQ(onH100({.m = 2048, .n = 2048, .k = 2048}, Quantization::Eager).verdict(), Verdict::NotWorthIt);
}

TEST(LinearTest, EagerFp8IsSlowerEvenAt16384AndFusedIsFaster)
{
    const LinearShape wide{.m = 16384, .n = 16384, .k = 16384};
    EXPECT_LT(onH100(wide, Quantization::Eager).speedup(), 0.95);
    const double fused = onH100(wide, Quantization::Fused).speedup();
    EXPECT_GT(fused, 1.3);
    EXPECT_LT(fused, 1.85);
}

TEST(LinearTest, ANarrowOutputLayerIsNotWorthFp8)
{
    const LinearTime time = onH100({.m = 4096, .n = 128, .k = 8192}, Quantization::Dynamic);
    EXPECT_EQ(time.verdict(), Verdict::NotWorthIt);
}

TEST(LinearTest, TheBetterTheFusionTheLessQuantizationCosts)
{
    const LinearShape shape{.m = 8192, .n = 8192, .k = 8192};
    const double none = onH100(shape, Quantization::None).quantizeUs,
                 fused = onH100(shape, Quantization::Fused).quantizeUs,
                 dynamic = onH100(shape, Quantization::Dynamic).quantizeUs,
                 eager = onH100(shape, Quantization::Eager).quantizeUs;
    EXPECT_EQ(none, 0);
    EXPECT_LT(none, fused);
    EXPECT_LT(fused, dynamic);
    EXPECT_LT(2 * dynamic, eager);
}

TEST(LinearTest, ForwardQuantizesOnlyTheInput)
{
    const LinearTime narrow = onH100({.m = 8192, .n = 1024, .k = 8192}, Quantization::Dynamic, Pass::Forward);
    const LinearTime wide = onH100({.m = 8192, .n = 16384, .k = 8192}, Quantization::Dynamic, Pass::Forward);
    EXPECT_DOUBLE_EQ(narrow.quantizeUs, wide.quantizeUs);
    EXPECT_GT(wide.fp8GemmUs, 8 * narrow.fp8GemmUs);
}

TEST(LinearTest, EagerTrainingLaunchesAsManyKernelsAsTorchao)
{
    // torchao, eager tensorwise: 6 casts of about 11 kernels, 3 transposing copies, 3 GEMMs (some 70 to 80 launches).
    const LinearTime time = onH100({.m = 4096, .n = 4096, .k = 4096}, Quantization::Eager);
    EXPECT_GE(time.launches, 70);
    EXPECT_LE(time.launches, 80);
}

}  // namespace
}  // namespace fp8scope::predict
