// SPDX-License-Identifier: Apache-2.0
// Bias kernels against plain loops that add in the documented order.
#include "kernel_inputs.h"

namespace fp8scope::kernels {
namespace {

using namespace test;

class BiasKernels : public EveryLevel {};

TEST_P(BiasKernels, AddRoundsTheSumOfEachElement)
{
    for (const RowRange& shape : kShapes) {
        const auto cols = static_cast<std::size_t>(shape.cols);
        const std::vector<Bf16> bias = randomBf16(cols, 1);
        std::vector<Bf16> y = randomBf16(cols * static_cast<std::size_t>(shape.rows), 2);
        std::vector<Bf16> expected;
        for (std::size_t i = 0; i < y.size(); ++i)
            expected.push_back(encodeBf16(decodeBf16(y[i]) + decodeBf16(bias[i % cols])));
        kernels.biasAdd(bias, y);
        EXPECT_EQ(y, expected);
    }
}

TEST_P(BiasKernels, EpilogueRoundsOnce)
{
    for (const RowRange& shape : kShapes) {
        const auto cols = static_cast<std::size_t>(shape.cols);
        const std::vector<Bf16> bias = randomBf16(cols, 3);
        const std::vector<float> x = randomFloats(cols * static_cast<std::size_t>(shape.rows), 4);
        std::vector<Bf16> y(x.size()), expected;
        for (std::size_t i = 0; i < x.size(); ++i)
            expected.push_back(encodeBf16(x[i] + decodeBf16(bias[i % cols])));
        kernels.encodeBf16Bias(x, bias, y);
        EXPECT_EQ(y, expected);
    }
}

/// Rows of a block in order, then blocks in order.
std::vector<float> columnSums(std::span<const Bf16> dy, const RowRange& shape)
{
    const auto cols = static_cast<std::size_t>(shape.cols);
    std::vector<float> sums(cols, 0.0F);
    for (std::size_t c = 0; c < cols; ++c)
        for (std::int64_t block = 0; block < shape.rows; block += kRowBlock) {
            float partial = 0;
            for (std::int64_t row = block; row < std::min(block + kRowBlock, shape.rows); ++row)
                partial += decodeBf16(dy[static_cast<std::size_t>(row) * cols + c]);
            sums[c] += partial;
        }
    return sums;
}

TEST_P(BiasKernels, GradientIsTheColumnSumInTheDocumentedOrderHoweverSplit)
{
    for (const RowRange& shape : kShapes) {
        const std::vector<Bf16> dy = randomBf16(static_cast<std::size_t>(shape.rows * shape.cols), 5);
        std::vector<float> partials(static_cast<std::size_t>(columnSumBlocks(shape.rows) * shape.cols), NAN);
        for (const RowRange& part : parts(shape, 2 * kRowBlock))
            kernels.biasGrad(dy.data(), part, partials.data());
        std::vector<float> sums(static_cast<std::size_t>(shape.cols));
        const std::int64_t middle = shape.cols / 2;
        kernels.reduceColumns(partials.data(), shape.rows, shape.cols, 0, middle, sums.data());
        kernels.reduceColumns(partials.data(), shape.rows, shape.cols, middle, shape.cols, sums.data());
        EXPECT_EQ(sums, columnSums(dy, shape)) << shape.rows << " x " << shape.cols;
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, BiasKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels
