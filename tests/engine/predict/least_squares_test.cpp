// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/fit.h"
#include "engine/predict/least_squares.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace fp8scope::predict {
namespace {

TEST(LeastSquaresTest, FindsALineInSpiteOfAnOutlier)
{
    const std::array<double, 6> x{0, 1, 2, 3, 4, 5}, y{1, 3, 5, 70, 9, 11};  // 1 + 2x, but for the fourth
    const auto residuals = [&](std::span<const double> p, std::span<double> out) {
        for (std::size_t i = 0; i < x.size(); ++i)
            out[i] = p[0] + p[1] * x[i] - y[i];
    };
    const std::array<double, 2> low{-100, -100}, high{100, 100};
    const std::vector<double> p = leastSquares(residuals, {0, 0}, low, high, x.size(), {.iterations = 200});
    EXPECT_NEAR(p[0], 1, 0.1);
    EXPECT_NEAR(p[1], 2, 0.1);
}

TEST(LeastSquaresTest, StaysWithinTheBounds)
{
    const auto residuals = [](std::span<const double> p, std::span<double> out) { out[0] = p[0] - 10; };
    const std::array<double, 1> low{0}, high{3};
    EXPECT_DOUBLE_EQ(leastSquares(residuals, {1}, low, high, 1)[0], 3);
}

TEST(FitTest, FindsAgainTheConstantsThatMadeTheTimes)
{
    const GemmMachine machine{.sms = 100, .peakFlops = 500e12, .bandwidth = 2e12, .l2Bytes = 40e6, .operandBytes = 2};
    const GemmConstants truth{.floorUs = 3, .peakFraction = 0.7, .sustained = 0.9, .throttleUs = 500};
    std::vector<MeasuredGemm> rows;
    for (const std::int64_t m : {128, 256, 1024, 4096, 8192}) {
        for (const std::int64_t n : {128, 1024, 4096, 12288}) {
            for (const std::int64_t k : {256, 2048, 8192})
                rows.push_back({{m, n, k}, predictGemm(machine, truth, {m, n, k}).us});
        }
    }
    const GemmFit fit = fitGemm(machine, rows, {}, {});
    std::vector<double> errors;
    for (const MeasuredGemm& row : rows)
        errors.push_back(std::abs(fittedUs(machine, fit, {}, row) / row.us - 1));
    EXPECT_LT(summarize(errors).median, 0.01);
    EXPECT_LT(summarize(errors).p90, 0.04);
}

TEST(FitTest, SummarizesByMedianAndNinetiethPercentile)
{
    const ErrorSummary summary = summarize({0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 0.0});
    EXPECT_DOUBLE_EQ(summary.median, 0.5);
    EXPECT_DOUBLE_EQ(summary.p90, 0.9);
    EXPECT_EQ(summary.rows, 11);
}

}  // namespace
}  // namespace fp8scope::predict
