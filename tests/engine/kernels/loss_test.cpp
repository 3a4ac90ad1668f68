// SPDX-License-Identifier: Apache-2.0
// Losses against double precision within a written tolerance; every level bitwise against the portable one.
#include "kernel_inputs.h"

namespace fp8scope::kernels {
namespace {

using namespace test;

struct Shape {
    std::size_t rows, cols;
};
constexpr Shape kLossShapes[] = {{1, 1}, {3, 16}, {5, 37}, {4, 1000}};

struct LossResult {
    std::vector<Bf16> dy;
    std::vector<double> rowLoss;
    friend bool operator==(const LossResult&, const LossResult&) = default;
};

/// A value rounded to bf16 is off by at most 2^-8 of it; a few f32 roundings come on top.
constexpr double kBf16Tolerance = 1.0 / 256 + 1e-5;

class LossKernels : public EveryLevel {};

TEST_P(LossKernels, SquaredErrorAndItsGradient)
{
    for (const Shape shape : kLossShapes) {
        const std::size_t n = shape.rows * shape.cols;
        const std::vector<Bf16> y = randomBf16(n, 1);
        const std::vector<float> target = randomFloats(n, 2);
        const float gradScale = 2.0F / static_cast<float>(n);
        LossResult result{std::vector<Bf16>(n), std::vector<double>(shape.rows)};
        kernels.squaredError(y, target, static_cast<std::int64_t>(shape.cols), gradScale, result.dy, result.rowLoss);
        for (std::size_t row = 0; row < shape.rows; ++row) {
            double expected = 0;
            for (std::size_t i = row * shape.cols; i < (row + 1) * shape.cols; ++i) {
                const double error = static_cast<double>(decodeBf16(y[i])) - static_cast<double>(target[i]);
                const double gradient = error * static_cast<double>(gradScale);
                expected += error * error;
                ASSERT_NEAR(decodeBf16(result.dy[i]), gradient, std::abs(gradient) * kBf16Tolerance);
            }
            EXPECT_NEAR(result.rowLoss[row], expected, expected * 1e-5);
        }
    }
}

TEST_P(LossKernels, SquaredErrorTakesBf16Targets)
{
    const std::vector<Bf16> y = randomBf16(5 * 37, 3), target = randomBf16(5 * 37, 4);
    std::vector<float> wide;
    for (const Bf16 bits : target)
        wide.push_back(decodeBf16(bits));
    LossResult narrow{std::vector<Bf16>(y.size()), std::vector<double>(5)}, expected = narrow;
    kernels.squaredErrorBf16(y, target, 37, 0.1F, narrow.dy, narrow.rowLoss);
    kernels.squaredError(y, wide, 37, 0.1F, expected.dy, expected.rowLoss);
    EXPECT_EQ(narrow, expected);
}

std::vector<double> softmax(std::span<const Bf16> logits)
{
    double largest = -INFINITY, sum = 0;
    for (const Bf16 bits : logits)
        largest = std::max(largest, static_cast<double>(decodeBf16(bits)));
    std::vector<double> p;
    for (const Bf16 bits : logits)
        sum += p.emplace_back(std::exp(static_cast<double>(decodeBf16(bits)) - largest));
    for (double& value : p)
        value /= sum;
    return p;
}

std::vector<std::int32_t> randomLabels(Shape shape)
{
    std::mt19937 random(5);
    std::vector<std::int32_t> labels(shape.rows);
    for (std::int32_t& label : labels)
        label = static_cast<std::int32_t>(random() % shape.cols);
    return labels;
}

TEST_P(LossKernels, CrossEntropyAndItsGradient)
{
    for (const Shape shape : kLossShapes) {
        const std::size_t n = shape.rows * shape.cols;
        const std::vector<Bf16> y = randomBf16(n, 6);
        const std::vector<std::int32_t> labels = randomLabels(shape);
        LossResult result{std::vector<Bf16>(n), std::vector<double>(shape.rows)};
        kernels.softmaxCrossEntropy(y, labels, static_cast<std::int64_t>(shape.cols), 0.25F, result.dy, result.rowLoss);
        for (std::size_t row = 0; row < shape.rows; ++row) {
            const std::vector<double> p = softmax(std::span(y).subspan(row * shape.cols, shape.cols));
            const auto label = static_cast<std::size_t>(labels[row]);
            const double expected = -std::log(p[label]);
            EXPECT_NEAR(result.rowLoss[row], expected, std::abs(expected) * 1e-6 + 1e-6);
            for (std::size_t c = 0; c < shape.cols; ++c) {
                const double gradient = 0.25 * (p[c] - (c == label ? 1 : 0));
                // p - 1 cancels: an f32 rounding of p is left.
                ASSERT_NEAR(decodeBf16(result.dy[row * shape.cols + c]), gradient,
                            std::abs(gradient) * kBf16Tolerance + 1e-7);
            }
        }
    }
}

TEST_P(LossKernels, CrossEntropyIsFiniteForLargeLogitsAndNanForNan)
{
    std::vector<Bf16> y{encodeBf16(1e30F), encodeBf16(-1e30F), encodeBf16(0)};
    std::vector<Bf16> dy(3);
    std::vector<double> loss(1);
    kernels.softmaxCrossEntropy(y, std::vector<std::int32_t>{0}, 3, 1, dy, loss);
    EXPECT_EQ(loss[0], 0.0);
    EXPECT_EQ(decodeBf16(dy[0]), 0.0F);
    y[1] = 0x7fc0;
    kernels.softmaxCrossEntropy(y, std::vector<std::int32_t>{0}, 3, 1, dy, loss);
    EXPECT_TRUE(std::isnan(loss[0]));
}

TEST_P(LossKernels, AreBitwiseThePortableOnes)
{
    const CpuKernels& portable = cpuKernels(VectorLevel::Portable);
    for (const Shape shape : kLossShapes) {
        const std::size_t n = shape.rows * shape.cols;
        const std::vector<Bf16> y = randomBf16(n, 7);
        const std::vector<float> target = randomFloats(n, 8);
        const std::vector<std::int32_t> labels = randomLabels(shape);
        const auto cols = static_cast<std::int64_t>(shape.cols);
        LossResult here{std::vector<Bf16>(n), std::vector<double>(shape.rows)}, there = here;
        kernels.squaredError(y, target, cols, 0.3F, here.dy, here.rowLoss);
        portable.squaredError(y, target, cols, 0.3F, there.dy, there.rowLoss);
        EXPECT_EQ(here, there);
        kernels.softmaxCrossEntropy(y, labels, cols, 0.3F, here.dy, here.rowLoss);
        portable.softmaxCrossEntropy(y, labels, cols, 0.3F, there.dy, there.rowLoss);
        EXPECT_EQ(here, there);
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, LossKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels
