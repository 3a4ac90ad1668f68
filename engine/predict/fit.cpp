// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/fit.h"

#include "engine/predict/least_squares.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::predict {
namespace {

/// The logarithms of chosen constants as one vector, with their bounds.
class LogVector {
public:
    template <typename Constants>
    void add(Constants& constants, const Parameter<Constants>& parameter)
    {
        m_values.push_back(&(constants.*(parameter.member)));
        m_low.push_back(std::log(parameter.low));
        m_high.push_back(std::log(parameter.high));
    }
    [[nodiscard]] std::vector<double> logarithms() const
    {
        std::vector<double> logs;
        for (const double* value : m_values)
            logs.push_back(std::log(*value));
        return logs;
    }
    void set(std::span<const double> logs) const
    {
        for (std::size_t i = 0; i < m_values.size(); ++i)
            *m_values[i] = std::exp(logs[i]);
    }
    [[nodiscard]] const std::vector<double>& low() const { return m_low; }
    [[nodiscard]] const std::vector<double>& high() const { return m_high; }

private:
    std::vector<double*> m_values;
    std::vector<double> m_low, m_high;
};

bool fitsSteady(std::span<const MeasuredGemm> rows)
{
    return std::ranges::any_of(rows, [](const MeasuredGemm& row) { return row.clock == Clock::Steady; });
}

bool fitsQuantizer(std::span<const MeasuredGemm> rows)
{
    return std::ranges::any_of(
        rows, [](const MeasuredGemm& row) { return row.quantizer && *row.quantizer != QuantizerKind::Cast; });
}

LogVector freeConstants(GemmFit& fit, std::span<const MeasuredGemm> rows, std::span<const std::string_view> keep)
{
    LogVector free;
    for (const Parameter<GemmConstants>& parameter : gemmParameters()) {
        const bool kept = std::ranges::find(keep, parameter.name) != keep.end();
        if (!kept && (parameter.name != "steady" || fitsSteady(rows)))
            free.add(fit.gemm, parameter);
    }
    if (fitsQuantizer(rows)) {
        for (const Parameter<QuantizerConstants>& parameter : quantizerParameters())
            free.add(fit.quantizer, parameter);
    }
    return free;
}

}  // namespace

double fittedUs(const GemmMachine& machine, const GemmFit& fit, const QuantizerConstants& cast, const MeasuredGemm& row)
{
    double us = predictGemm(machine, fit.gemm, row.shape, row.clock).us;
    if (row.quantizer) {
        const QuantizerConstants& quantizer = *row.quantizer == QuantizerKind::Cast ? cast : fit.quantizer;
        us += predictQuantizer(machine, quantizer, *row.quantizer, row.shape.m, row.shape.k).us;
    }
    return us;
}

GemmFit fitGemm(const GemmMachine& machine, std::span<const MeasuredGemm> rows, const GemmFit& start,
                const QuantizerConstants& cast, std::span<const std::string_view> keep)
{
    GemmFit fit = start;
    const LogVector free = freeConstants(fit, rows, keep);
    const auto residuals = [&](std::span<const double> logs, std::span<double> out) {
        free.set(logs);
        for (std::size_t i = 0; i < rows.size(); ++i)
            out[i] = std::log(fittedUs(machine, fit, cast, rows[i]) / rows[i].us);
    };
    free.set(leastSquares(residuals, free.logarithms(), free.low(), free.high(), rows.size()));
    return fit;
}

QuantizerConstants fitQuantizer(const GemmMachine& machine, QuantizerKind kind, std::span<const MeasuredQuantizer> rows,
                                const QuantizerConstants& start)
{
    QuantizerConstants fit = start;
    LogVector free;
    for (const Parameter<QuantizerConstants>& parameter : quantizerParameters())
        free.add(fit, parameter);
    const auto residuals = [&](std::span<const double> logs, std::span<double> out) {
        free.set(logs);
        for (std::size_t i = 0; i < rows.size(); ++i)
            out[i] = std::log(predictQuantizer(machine, fit, kind, rows[i].m, rows[i].k).us / rows[i].us);
    };
    free.set(leastSquares(residuals, free.logarithms(), free.low(), free.high(), rows.size()));
    return fit;
}

ErrorSummary summarize(std::vector<double> errors)
{
    if (errors.empty())
        return {};
    std::ranges::sort(errors);
    const auto at = [&](double share) {
        return errors[static_cast<std::size_t>(share * static_cast<double>(errors.size() - 1) + 0.5)];
    };
    return {at(0.5), at(0.9), static_cast<int>(errors.size())};
}

}  // namespace fp8scope::predict
