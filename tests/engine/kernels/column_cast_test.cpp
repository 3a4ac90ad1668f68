// SPDX-License-Identifier: Apache-2.0
// Quantization with a scale for each column against the definition, on odd sizes and special values.
#include "kernel_inputs.h"

namespace fp8scope::kernels {
namespace {

using namespace test;

std::size_t elements(const RowRange& shape) { return static_cast<std::size_t>(shape.rows * shape.cols); }

/// Powers of two and others, one a column, from far below to far above one.
std::vector<float> someScales(std::size_t n)
{
    std::vector<float> scales;
    for (std::size_t i = 0; i < n; ++i)
        scales.push_back(std::ldexp(1.0F + 0.1F * static_cast<float>(i % 3), static_cast<int>(i % 41) - 20));
    return scales;
}

class ColumnKernels : public EveryLevel {};

TEST_P(ColumnKernels, AmaxOfEachColumnWholeAndInParts)
{
    for (const RowRange& shape : kShapes)
        for (const auto& x : {randomBf16(elements(shape), 1), specialBf16(elements(shape), 2)}) {
            const auto cols = static_cast<std::size_t>(shape.cols);
            std::vector<Bf16> expected(cols, 0), found(cols, 0);
            for (std::size_t i = 0; i < x.size(); ++i)
                expected[i % cols] = std::max<Bf16>(expected[i % cols], x[i] & 0x7fffU);
            for (const RowRange& part : parts(shape, kRowBlock))
                kernels.columnAmax(x.data(), part, found);
            EXPECT_EQ(found, expected) << shape.rows << " x " << shape.cols;
        }
}

TEST_P(ColumnKernels, CastsEachElementWithItsColumnsScale)
{
    for (const std::size_t n : kLengths)
        for (const DType format : {DType::E4m3, DType::E5m2}) {
            const std::vector<Bf16> x = specialBf16(n, 3);
            const std::vector<float> scales = someScales(n);
            std::vector<Fp8> q(n), expected(n);
            CastCounts counts;
            for (std::size_t i = 0; i < n; ++i)
                expected[i] = quantize(decodeBf16(x[i]), scales[i], format, counts);
            EXPECT_EQ(kernels.castColumns(x, scales, format, q), counts);
            EXPECT_EQ(q, expected) << n;
        }
}

TEST_P(ColumnKernels, CastsIntoTheTranspose)
{
    for (const RowRange& shape : kShapes)
        for (const DType format : {DType::E4m3, DType::E5m2}) {
            const auto rows = static_cast<std::size_t>(shape.rows), cols = static_cast<std::size_t>(shape.cols);
            const std::vector<Bf16> x = randomBf16(elements(shape), 4);
            const std::vector<float> scales = someScales(cols);
            std::vector<Fp8> qT(x.size());
            for (const RowRange& part : parts(shape, kRowBlock))
                kernels.castColumnsTransposed(x.data(), part, scales.data(), format, qT.data());
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t c = 0; c < cols; ++c)
                    ASSERT_EQ(qT[c * rows + r], encodeFp8(decodeBf16(x[r * cols + c]) * scales[c], format))
                        << shape.rows << " x " << shape.cols << " at " << r << ", " << c;
        }
}

TEST_P(ColumnKernels, MultipliesAndRescales)
{
    for (const std::size_t n : kLengths) {
        const std::vector<float> x = randomFloats(n, 5), factors = randomFloats(n, 6);
        std::vector<float> y(n);
        kernels.mulScales(x, factors, y);
        const std::vector<Bf16> z = randomBf16(n, 7), before = randomBf16(n, 8);
        std::vector<Bf16> scaled(n), added = before;
        kernels.rescale(z, factors, {.rowFactor = 0.37F}, scaled);
        kernels.rescale(z, factors, {.rowFactor = 0.37F, .add = true}, added);
        for (std::size_t i = 0; i < n; ++i) {
            const float product = decodeBf16(z[i]) * (0.37F * factors[i]);
            EXPECT_EQ(y[i], x[i] * factors[i]);
            EXPECT_EQ(scaled[i], encodeBf16(product));
            EXPECT_EQ(added[i], encodeBf16(product + decodeBf16(before[i])));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, ColumnKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels
