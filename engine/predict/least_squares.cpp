// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/least_squares.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::predict {
namespace {

constexpr double kDifference = 2e-3;

/// Solves the symmetric positive definite a x = b (n x n, row-major) by Cholesky; false when it is not.
bool solveSymmetric(std::vector<double> a, std::vector<double>& b)
{
    const std::size_t n = b.size();
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = j; i < n; ++i) {
            double sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && sum <= 0)
                return false;
            a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return true;
}

double robustCost(std::span<const double> residuals, double scale)
{
    double sum = 0;
    for (const double r : residuals)
        sum += 2 * (std::sqrt(1 + (r / scale) * (r / scale)) - 1);
    return sum;
}

/// The weighted normal equations J^T W J and J^T W r.
struct Normal {
    std::vector<double> matrix, gradient;
};

Normal normalEquations(const std::vector<std::vector<double>>& jacobian, std::span<const double> residuals,
                       double scale)
{
    const std::size_t n = jacobian.size();
    Normal normal{std::vector<double>(n * n, 0), std::vector<double>(n, 0)};
    for (std::size_t row = 0; row < residuals.size(); ++row) {
        const double r = residuals[row];
        const double weight = 1 / std::sqrt(1 + (r / scale) * (r / scale));
        for (std::size_t i = 0; i < n; ++i) {
            const double weighted = weight * jacobian[i][row];
            normal.gradient[i] += weighted * r;
            for (std::size_t j = 0; j <= i; ++j)
                normal.matrix[i * n + j] += weighted * jacobian[j][row];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j)
            normal.matrix[i * n + j] = normal.matrix[j * n + i];
    }
    return normal;
}

/// The damped step from `x`, clamped to the bounds; `x` itself when the equations have no solution.
std::vector<double> stepFrom(const std::vector<double>& x, const Normal& normal, double damping,
                             std::span<const double> low, std::span<const double> high)
{
    const std::size_t n = x.size();
    std::vector<double> matrix = normal.matrix, step(n);
    for (std::size_t i = 0; i < n; ++i) {
        matrix[i * n + i] += damping * (normal.matrix[i * n + i] + 1e-9);
        step[i] = -normal.gradient[i];
    }
    std::vector<double> next = x;
    if (!solveSymmetric(std::move(matrix), step))
        return next;
    for (std::size_t i = 0; i < n; ++i)
        next[i] = std::clamp(x[i] + std::clamp(step[i], -1.0, 1.0), low[i], high[i]);
    return next;
}

}  // namespace

std::vector<double> leastSquares(const Residuals& residualsOf, std::vector<double> x, std::span<const double> low,
                                 std::span<const double> high, std::size_t residualCount,
                                 const LeastSquaresOptions& options)
{
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::clamp(x[i], low[i], high[i]);
    std::vector<double> residuals(residualCount), tried(residualCount);
    std::vector<std::vector<double>> jacobian(x.size(), std::vector<double>(residualCount));
    residualsOf(x, residuals);
    double cost = robustCost(residuals, options.scale), damping = 1e-2;
    for (int iteration = 0; iteration < options.iterations; ++iteration) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            std::vector<double> moved = x;
            const double h = x[i] + kDifference > high[i] ? -kDifference : kDifference;
            moved[i] += h;
            residualsOf(moved, jacobian[i]);
            for (std::size_t row = 0; row < residualCount; ++row)
                jacobian[i][row] = (jacobian[i][row] - residuals[row]) / h;
        }
        const Normal normal = normalEquations(jacobian, residuals, options.scale);
        const double before = cost;
        for (int attempt = 0; attempt < 8; ++attempt) {
            const std::vector<double> next = stepFrom(x, normal, damping, low, high);
            residualsOf(next, tried);
            const double nextCost = robustCost(tried, options.scale);
            if (nextCost < cost) {
                x = next;
                residuals.swap(tried);
                cost = nextCost;
                damping = std::max(damping / 4, 1e-6);
                break;
            }
            damping *= 4;
        }
        if (before - cost < 1e-4 * before)
            break;
    }
    return x;
}

}  // namespace fp8scope::predict
