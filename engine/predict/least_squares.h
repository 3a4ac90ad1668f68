// SPDX-License-Identifier: Apache-2.0
// Robust nonlinear least squares with bounds (Levenberg-Marquardt with iteratively reweighted residuals; K. Madsen,
// H. Nielsen, O. Tingleff, "Methods for Non-Linear Least Squares Problems", 2004).
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace fp8scope::predict {

struct LeastSquaresOptions {
    int iterations = 30;
    double scale = 0.06;  ///< residuals beyond it count by their absolute value, not their square
};

/// Fills `residuals` for these parameters; must be deterministic.
using Residuals = std::function<void(std::span<const double> parameters, std::span<double> residuals)>;

/// The parameters within [low, high] that make the sum of 2 (sqrt(1 + (r / scale)^2) - 1) least, from `start`. A local
/// minimum; derivatives are forward differences.
[[nodiscard]] std::vector<double> leastSquares(const Residuals&, std::vector<double> start, std::span<const double> low,
                                               std::span<const double> high, std::size_t residualCount,
                                               const LeastSquaresOptions& = {});

}  // namespace fp8scope::predict
