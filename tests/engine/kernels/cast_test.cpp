// SPDX-License-Identifier: Apache-2.0
// Casts against the scalar definitions of engine/numerics, and fused against eager.
#include "kernel_inputs.h"

#include "engine/numerics/quantization.h"

#include <bit>
#include <limits>

namespace fp8scope::kernels {
namespace {

using namespace test;

constexpr float kScales[] = {1.0F, 0.37F, 224.0F, 1e-6F, 1e20F, 0.0F};
constexpr DType kFormats[] = {DType::E4m3, DType::E5m2};

struct Quantized {
    std::vector<Fp8> codes;
    CastCounts counts;
};
Quantized quantizeOneByOne(std::span<const Bf16> x, float scale, DType format)
{
    Quantized q;
    for (const Bf16 bits : x)
        q.codes.push_back(quantize(decodeBf16(bits), scale, format, q.counts));
    return q;
}

std::vector<std::uint32_t> bitsOf(std::span<const float> x)
{
    std::vector<std::uint32_t> bits;
    for (const float value : x)
        bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
}

class CastKernels : public EveryLevel {
protected:
    [[nodiscard]] Quantized eagerChain(std::span<const Bf16> x, float scale, DType format) const
    {
        std::vector<float> wide(x.size()), scaled(x.size()), clamped(x.size());
        Quantized q{std::vector<Fp8>(x.size()), {}};
        kernels.toF32(x, wide);
        kernels.mulScale(wide, scale, scaled);
        const std::uint64_t saturated = kernels.clamp(scaled, fp8Max(format), clamped);
        q.counts = kernels.toFp8(clamped, format, q.codes);
        q.counts.saturated += saturated;
        return q;
    }
    void expectCastAsDefined(std::span<const Bf16> x, float scale, DType format) const
    {
        const Quantized expected = quantizeOneByOne(x, scale, format);
        std::vector<Fp8> fused(x.size());
        EXPECT_EQ(kernels.cast(x, scale, format, fused).counts, expected.counts) << "scale " << scale;
        EXPECT_EQ(fused, expected.codes) << "scale " << scale;
        const Quantized eager = eagerChain(x, scale, format);
        EXPECT_EQ(eager.counts, expected.counts) << "scale " << scale;
        EXPECT_EQ(eager.codes, expected.codes) << "scale " << scale;
    }
};

TEST_P(CastKernels, EveryBf16IsCastAsDefinedFusedAndEager)
{
    for (const DType format : kFormats)
        for (const float scale : kScales)
            expectCastAsDefined(everyBf16(), scale, format);
}

TEST_P(CastKernels, OddLengthsAreCastAsDefinedFusedAndEager)
{
    for (const std::size_t n : kLengths)
        expectCastAsDefined(specialBf16(n, 1), 3.7F, DType::E4m3);
}

TEST_P(CastKernels, AmaxIsTheLargestMagnitude)
{
    for (const std::size_t n : kLengths) {
        const std::vector<Bf16> x = randomBf16(n, 2);
        float expected = 0;
        for (const Bf16 bits : x)
            expected = std::max(expected, std::abs(decodeBf16(bits)));
        std::vector<Bf16> magnitudes(n);
        std::vector<Fp8> q(n);
        kernels.abs(x, magnitudes);
        EXPECT_EQ(kernels.maxReduce(magnitudes), expected);
        EXPECT_EQ(kernels.amax(x), expected);
        EXPECT_EQ(kernels.cast(x, 1, DType::E4m3, q).amax, expected);
    }
}

TEST_P(CastKernels, AnInfinityOrNanAnywhereShowsInAmax)
{
    for (const std::size_t place : {0U, 17U, 32U, 36U}) {
        std::vector<Bf16> x = randomBf16(37, 3);
        x[place] = 0xff80;
        EXPECT_EQ(kernels.amax(x), std::numeric_limits<float>::infinity());
        x[place] = 0xffc0;
        std::vector<Fp8> q(x.size());
        EXPECT_TRUE(std::isnan(kernels.amax(x)));
        EXPECT_TRUE(std::isnan(kernels.cast(x, 1, DType::E4m3, q).amax));
    }
}

TEST_P(CastKernels, AbsClearsTheSign)
{
    std::vector<Bf16> y(65536);
    kernels.abs(everyBf16(), y);
    for (std::size_t bits = 0; bits < y.size(); ++bits)
        ASSERT_EQ(y[bits], bits & 0x7fffU);
}

TEST_P(CastKernels, ClampLimitsCountsAndKeepsNan)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> x{448, 448.5F, -448, -449, kInfinity, -kInfinity, NAN, 0, -1};
    std::vector<float> y(x.size());
    EXPECT_EQ(kernels.clamp(x, 448, y), 4U);
    EXPECT_TRUE(std::isnan(y[6]));
    y[6] = 0;
    EXPECT_EQ(y, (std::vector<float>{448, 448, -448, -448, 448, -448, 0, 0, -1}));
}

TEST_P(CastKernels, DecodesEveryCodeAndFoldsTheScale)
{
    std::vector<Fp8> codes(256);
    std::iota(codes.begin(), codes.end(), Fp8{0});
    codes.insert(codes.end(), {1, 2, 3});  // a tail
    for (const DType format : kFormats)
        for (const float scale : {1.0F, 1.0F / 224}) {
            std::vector<float> expected, values(codes.size());
            for (const Fp8 code : codes)
                expected.push_back(decodeFp8(code, format) * scale);
            kernels.decodeFp8(codes, format, scale, values);
            EXPECT_EQ(bitsOf(values), bitsOf(expected)) << toString(format) << " scale " << scale;
        }
}

TEST_P(CastKernels, DecodesEveryCodeToBf16Exactly)
{
    std::vector<Fp8> codes(256 + 5);  // a part of a vector is left
    for (std::size_t i = 0; i < codes.size(); ++i)
        codes[i] = static_cast<Fp8>(i);
    for (const DType format : {DType::E4m3, DType::E5m2}) {
        std::vector<Bf16> values(codes.size());
        kernels.decodeFp8ToBf16(codes, format, values);
        for (std::size_t i = 0; i < codes.size(); ++i)
            EXPECT_EQ(std::bit_cast<std::uint32_t>(decodeBf16(values[i])),
                      std::bit_cast<std::uint32_t>(decodeFp8(codes[i], format)))
                << toString(format) << " code " << i;
    }
}

TEST_P(CastKernels, WidensEveryBf16)
{
    std::vector<float> values(65536);
    kernels.toF32(everyBf16(), values);
    for (std::uint32_t bits = 0; bits < 65536; ++bits)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[bits]), bits << 16);
}

TEST_P(CastKernels, RoundsFloatsToBf16)
{
    std::mt19937 random(4);
    std::vector<float> x(100'003);
    for (float& value : x)
        value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    std::vector<Bf16> y(x.size());
    kernels.encodeBf16(x, y);
    for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i], encodeBf16(x[i])) << x[i];
}

INSTANTIATE_TEST_SUITE_P(Levels, CastKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels
