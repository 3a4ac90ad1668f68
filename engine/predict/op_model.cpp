// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/op_model.h"

#include "engine/predict/least_squares.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fp8scope::predict {
namespace {

constexpr std::size_t kFree = 4;  // floor, bytes a us, FLOPs a us, cold factor

OpConstants constantsFrom(std::span<const double> logs, double cacheBytes)
{
    return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]), cacheBytes};
}

OpConstants fitOne(const std::vector<MeasuredOp>& rows, double cacheBytes)
{
    const std::array<double, kFree> low{std::log(0.05), std::log(10), std::log(10), std::log(1)};
    const std::array<double, kFree> high{std::log(1e4), std::log(1e6), std::log(1e9), std::log(8)};
    const auto fastest = std::ranges::min_element(rows, {}, &MeasuredOp::us);
    const std::vector<double> start{std::log(std::max(0.1, fastest->us / 2)), std::log(5e3), std::log(1e5),
                                    std::log(1.5)};
    const auto residuals = [&](std::span<const double> logs, std::span<double> out) {
        const OpConstants constants = constantsFrom(logs, cacheBytes);
        for (std::size_t i = 0; i < rows.size(); ++i)
            out[i] = std::log(predictOpUs(constants, rows[i].bytes, rows[i].flops) / rows[i].us);
    };
    const std::vector<double> best =
        leastSquares(residuals, start, low, high, rows.size(), {.iterations = 60, .scale = 0.1});
    return constantsFrom(best, cacheBytes);
}

}  // namespace

std::string opClass(const plan::Op& op)
{
    if (!op.gemm)
        return std::string(toString(op.kind));
    const plan::GemmCall& call = *op.gemm;
    const bool fp8 = isFp8(call.a.type) || isFp8(call.b.type);
    return std::string("gemm ") + (fp8 ? "fp8 " : "bf16 ") + (call.transA ? 't' : 'n') + (call.transB ? 't' : 'n');
}

double predictOpUs(const OpConstants& c, double bytes, double flops)
{
    const double cold = std::max(0.0, bytes - c.cacheBytes);
    const double move = (bytes + cold * (c.coldFactor - 1)) / c.bytesPerUs, compute = flops / c.flopsPerUs;
    return c.floorUs + std::sqrt(move * move + compute * compute);
}

std::map<std::string, OpConstants> fitOps(std::span<const MeasuredOp> rows, double cacheBytes)
{
    std::map<std::string, std::vector<MeasuredOp>> byKind;
    for (const MeasuredOp& row : rows)
        byKind[row.kind].push_back(row);
    std::map<std::string, OpConstants> fits;
    for (const auto& [kind, same] : byKind)
        fits[kind] = fitOne(same, cacheBytes);
    return fits;
}

}  // namespace fp8scope::predict
