// SPDX-License-Identifier: Apache-2.0
// Activations over all bf16 values, and gelu's slope against a difference quotient.
#include "kernel_inputs.h"

#include <limits>

namespace fp8scope::kernels {
namespace {

using namespace test;

double gelu(double z) { return 0.5 * z * (1 + std::tanh(0.7978845608028654 * (z + 0.044715 * z * z * z))); }

class ActivationKernels : public EveryLevel {};

TEST_P(ActivationKernels, ReluKeepsWhatIsPositiveAndNan)
{
    std::vector<Bf16> a(65536);
    kernels.actForward(makeActivation(ActivationKind::Relu), everyBf16(), a);
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const float z = decodeBf16(static_cast<Bf16>(bits));
        if (std::isnan(z))
            ASSERT_TRUE(std::isnan(decodeBf16(a[bits]))) << bits;
        else
            ASSERT_EQ(decodeBf16(a[bits]), z > 0 ? z : 0.0F) << bits;
    }
}

TEST_P(ActivationKernels, GeluIsTheRoundedTanhForm)
{
    const Activation activation = makeActivation(ActivationKind::Gelu);
    std::vector<Bf16> a(65536);
    kernels.actForward(activation, everyBf16(), a);
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const float z = decodeBf16(static_cast<Bf16>(bits));
        if (!(std::abs(z) < 20))
            continue;
        ASSERT_EQ(a[bits], encodeBf16(static_cast<float>(gelu(static_cast<double>(z))))) << z;
    }
    EXPECT_EQ(decodeBf16(a[encodeBf16(1000)]), 1000.0F);
    EXPECT_EQ(decodeBf16(a[encodeBf16(-1000)]), 0.0F);
    EXPECT_EQ(decodeBf16(a[0x7f80]), std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(decodeBf16(a[0x7fc0])));
}

TEST_P(ActivationKernels, ReluPassesGradientsWhereTheInputIsPositive)
{
    const std::vector<Bf16> z = everyBf16();
    const std::vector<Bf16> da = randomBf16(z.size(), 1);
    std::vector<Bf16> dz(z.size());
    kernels.actBackward(makeActivation(ActivationKind::Relu), da, z, dz);
    for (std::size_t i = 0; i < z.size(); ++i)
        ASSERT_EQ(dz[i], decodeBf16(z[i]) <= 0 ? 0U : da[i]) << decodeBf16(z[i]);
}

TEST_P(ActivationKernels, GeluSlopeIsTheDifferenceQuotient)
{
    const Activation activation = makeActivation(ActivationKind::Gelu);
    for (const float z : {-8.0F, -3.0F, -0.75F, 0.0F, 0.5F, 2.0F, 8.0F}) {
        const double h = 1e-5, at = z;
        const double quotient = (gelu(at + h) - gelu(at - h)) / (2 * h);
        EXPECT_NEAR(activation.slope[encodeBf16(z)], quotient, 1e-7) << z;  // an f32 rounding
    }
}

TEST_P(ActivationKernels, GeluBackwardMultipliesBySlopeAndRounds)
{
    const Activation activation = makeActivation(ActivationKind::Gelu);
    for (const std::size_t n : kLengths) {
        const std::vector<Bf16> z = randomBf16(n, 2), da = randomBf16(n, 3);
        std::vector<Bf16> dz(n), expected;
        for (std::size_t i = 0; i < n; ++i)
            expected.push_back(encodeBf16(decodeBf16(da[i]) * activation.slope[z[i]]));
        kernels.actBackward(activation, da, z, dz);
        EXPECT_EQ(dz, expected);
    }
}

TEST_P(ActivationKernels, FusedAmaxIsTheAmaxOfTheOutput)
{
    for (const ActivationKind kind : {ActivationKind::Relu, ActivationKind::Gelu}) {
        const Activation activation = makeActivation(kind);
        for (const std::size_t n : kLengths) {
            const std::vector<Bf16> z = randomBf16(n, 4);
            std::vector<Bf16> a(n), fused(n);
            kernels.actForward(activation, z, a);
            EXPECT_EQ(kernels.actAmax(activation, z, fused), kernels.amax(a));
            EXPECT_EQ(fused, a);
        }
    }
}

TEST_P(ActivationKernels, ReluMaskHasABitForEachElementThatPassesGradients)
{
    for (const std::size_t n : kLengths) {
        const std::vector<Bf16> z = specialBf16(n, 5);
        std::vector<Bf16> a(n), expected(n), inPlace = z;
        std::vector<std::uint32_t> mask((n + 31) / 32, ~0U), again(mask);
        kernels.actForward(makeActivation(ActivationKind::Relu), z, expected);
        kernels.reluMask(z, a, mask.data());
        EXPECT_EQ(a, expected);
        for (std::size_t i = 0; i < 32 * mask.size(); ++i)
            ASSERT_EQ(mask[i / 32] >> (i % 32) & 1U, i < n && !(decodeBf16(z[i]) <= 0) ? 1U : 0U) << i;
        kernels.reluMask(inPlace, inPlace, again.data());
        EXPECT_EQ(inPlace, expected);
        EXPECT_EQ(again, mask);
    }
}

/// What the fused backward must give: the plain one, then the cast with transpose and column sums.
struct SeparateBackward {
    std::vector<Bf16> dz;
    std::vector<Fp8> q, qTransposed;
    std::vector<float> partials;
    CastResult result;

    SeparateBackward(const CpuKernels& kernels, const Activation& function, const std::vector<Bf16>& da,
                     const std::vector<Bf16>& z, const RowRange& shape)
        : dz(z.size()), q(z.size()), qTransposed(z.size()),
          partials(static_cast<std::size_t>(columnSumBlocks(shape.rows) * shape.cols))
    {
        kernels.actBackward(function, da, z, dz);
        result = kernels.castTranspose({.x = dz.data(),
                                        .scale = 3,
                                        .format = DType::E5m2,
                                        .part = shape,
                                        .q = q.data(),
                                        .qTransposed = qTransposed.data(),
                                        .columnPartials = partials.data()});
    }
};

TEST_P(ActivationKernels, FusedBackwardIsBackwardThenCastTransposeAndColumnSums)
{
    for (const ActivationKind kind : {ActivationKind::Relu, ActivationKind::Gelu}) {
        const Activation function = makeActivation(kind);
        for (const RowRange& shape : kShapes) {
            const auto n = static_cast<std::size_t>(shape.rows * shape.cols);
            const std::vector<Bf16> da = randomBf16(n, 6), z = randomBf16(n, 7);
            const SeparateBackward expected(kernels, function, da, z, shape);
            std::vector<Fp8> q(n), qTransposed(n);
            std::vector<float> partials(expected.partials.size());
            CastResult result;
            for (const RowRange& part : parts(shape, 128)) {
                const CastResult mine = kernels.actBackwardCast(function, {.da = da.data(),
                                                                           .z = z.data(),
                                                                           .part = part,
                                                                           .scale = 3,
                                                                           .format = DType::E5m2,
                                                                           .q = q.data(),
                                                                           .qTransposed = qTransposed.data(),
                                                                           .columnPartials = partials.data()});
                result.amax = maxAmax(result.amax, mine.amax);
                result.counts += mine.counts;
            }
            EXPECT_EQ(q, expected.q);
            EXPECT_EQ(qTransposed, expected.qTransposed);
            EXPECT_EQ(partials, expected.partials);
            EXPECT_EQ(result.amax, expected.result.amax);
            EXPECT_EQ(result.counts.underflowed, expected.result.counts.underflowed);
            EXPECT_EQ(result.counts.zeros, expected.result.counts.zeros);
        }
    }
}

TEST_P(ActivationKernels, BackwardByMaskIsBackwardByInput)
{
    const Activation relu = makeActivation(ActivationKind::Relu);
    for (const RowRange& shape : kShapes) {
        const auto rows = static_cast<std::size_t>(shape.rows), cols = static_cast<std::size_t>(shape.cols);
        const std::vector<Bf16> da = randomBf16(rows * cols, 8), z = specialBf16(rows * cols, 9);
        const std::size_t words = (cols + 127) / 128 * 4;
        std::vector<std::uint32_t> mask(rows * words);
        std::vector<Bf16> a(cols), dz(rows * cols), expected(rows * cols);
        for (std::size_t row = 0; row < rows; ++row)
            kernels.reluMask({z.data() + row * cols, cols}, a, mask.data() + row * words);
        kernels.actBackward(relu, da, z, expected);
        const CastResult result = kernels.actBackwardCast(
            relu, {.da = da.data(), .mask = mask.data(), .maskWords = words, .part = shape, .dz = dz.data()});
        EXPECT_EQ(dz, expected);
        EXPECT_EQ(result.amax, kernels.amax(expected));
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, ActivationKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels
