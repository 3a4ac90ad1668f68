// SPDX-License-Identifier: Apache-2.0
#include "app/cli/numerics_tables.h"

#include "app/analysis/numerics.h"
#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace fp8scope::cli {
namespace {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Cell numberCell(double value, int digits = 4)
{
    return {std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "-", finite(value)};
}

Cell decibelCell(double value) { return {std::isfinite(value) ? fmt::format("{:.1f}", value) : "-", finite(value)}; }

Cell lagCell(const analysis::TensorNumerics& t)
{
    const std::string text = t.lagSteps == 0 ? ""
                                             : fmt::format("{} {}, {:.3g}x", t.lagSteps,
                                                           t.lagSteps == 1 ? "step" : "steps", t.worstOvershoot);
    return {text, Json(t.lagSteps)};
}

std::map<std::uint32_t, double> losses(const Trace& trace, RunId run)
{
    std::map<std::uint32_t, double> curve;
    for (const analysis::LossPoint& point : analysis::lossCurve(trace, run))
        curve[point.step] = point.loss;
    return curve;
}

std::map<std::uint32_t, double> gradientNorms(const Trace& trace, RunId run)
{
    std::map<std::uint32_t, double> curve;
    for (const analysis::StepPoint& point : analysis::stepFigures(trace, run, "gradient_norm"))
        curve[point.step] = point.value;
    return curve;
}

/// About ten of the steps, the first and the last among them.
std::vector<std::uint32_t> someOf(const std::set<std::uint32_t>& steps)
{
    const std::vector<std::uint32_t> all(steps.begin(), steps.end());
    constexpr std::size_t kRows = 10;
    if (all.size() <= kRows)
        return all;
    std::vector<std::uint32_t> some;
    for (std::size_t i = 0; i < kRows; ++i)
        some.push_back(all[i * (all.size() - 1) / (kRows - 1)]);
    return some;
}

}  // namespace

Table worstTensorTable(const Trace& trace, RunId run)
{
    Table table;
    table.columns = {{"tensor", "tensor", false, true}, {"format", "format", false},      {"steps", "steps"},
                     {"amax", "largest_amax"},          {"scale", "last_scale"},          {"SQNR dB", "sqnr_db"},
                     {"saturated", "saturated_share"},  {"underflow", "underflow_share"}, {"zeros", "zero_share"},
                     {"scale lags", "lag_steps", false}};
    for (const analysis::TensorNumerics& t : analysis::tensorNumerics(trace, run)) {
        table.rows.push_back({textCell(t.tensor), textCell(t.format), countCell(t.steps), numberCell(t.amaxMax),
                              numberCell(t.lastScale), decibelCell(t.sqnrDb), shareCell(t.saturatedShare),
                              shareCell(t.underflowShare), shareCell(t.zeroShare), lagCell(t)});
    }
    return table;
}

Table tensorStepTable(const Trace& trace, RunId run, const analysis::StepLimit& limit, const std::string& tensor)
{
    Table table;
    table.columns = {{"step", "step"},
                     {"tensor", "tensor", false, true},
                     {"format", "format", false},
                     {"amax", "amax"},
                     {"scale", "scale"},
                     {"of range", "range_share"},
                     {"SQNR dB", "sqnr_db"},
                     {"saturated", "saturated"},
                     {"underflow", "underflowed"},
                     {"zeros", "zeros"},
                     {"count", "count"}};
    for (const TensorStat& s : trace.tensorStats) {
        if (s.run != run || s.step < limit.first || s.step > limit.last || (!tensor.empty() && s.tensor != tensor))
            continue;
        const double largest = analysis::largestOf(s.format);
        table.rows.push_back({countCell(s.step), textCell(s.tensor), textCell(s.format), numberCell(s.amax),
                              numberCell(s.scale), shareCell(largest > 0 ? s.amax * s.scale / largest : 0),
                              decibelCell(s.sqnrDb), countCell(s.saturated), countCell(s.underflowed),
                              countCell(s.zeros), countCell(s.count)});
    }
    return table;
}

Table magnitudeTable(const Trace& trace, RunId run, const std::string& tensor)
{
    const analysis::Magnitudes m = analysis::magnitudesOf(trace, run, tensor);
    Table table;
    table.columns = {{"magnitude", "exponent"}, {"share", "share"}, {"", "where", false}, {"", "bar", false}};
    if (m.empty())
        return table;
    table.headline = fmt::format("{} of {}: magnitudes before scaling, from samples of {} steps", tensor,
                                 trace.run(run).mode, m.steps);
    const double most = *std::max_element(m.shares.begin(), m.shares.end());
    for (std::size_t i = m.shares.size(); i-- > 0;) {
        const int exponent = m.firstExponent + static_cast<int>(i);
        const char* const where = exponent >= m.largestExponent        ? "saturates"
                                  : exponent + 1 <= m.smallestExponent ? "becomes zero"
                                                                       : "";
        constexpr double kWidestBar = 40;
        const auto width = static_cast<std::size_t>(std::lround(kWidestBar * m.shares[i] / most));
        table.rows.push_back({{fmt::format("2^{}", exponent), Json(exponent)},
                              shareCell(m.shares[i]),
                              textCell(where),
                              textCell(std::string(width, '#'))});
    }
    return table;
}

Table shadowTable(const Trace& trace, RunId run)
{
    Table table;
    table.columns = {{"tensor", "tensor", false},
                     {"mean error", "mean_error"},
                     {"worst", "worst_error"},
                     {"in step", "worst_step"},
                     {"steps", "steps"}};
    for (const analysis::ShadowError& e : analysis::shadowErrors(trace, run))
        table.rows.push_back(
            {textCell(e.tensor), shareCell(e.mean), shareCell(e.worst), countCell(e.worstStep), countCell(e.steps)});
    return table;
}

Table curveTable(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    constexpr std::size_t kMostRuns = 4;  // that fit beside each other
    const std::size_t shown = std::min(runs.size(), kMostRuns);
    Table table;
    table.columns = {{"step", "step"}};
    std::vector<std::map<std::uint32_t, double>> curves;
    for (std::size_t r = 0; r < shown; ++r) {
        table.columns.push_back({runs[r].mode + " loss", runs[r].mode + "_loss"});
        curves.push_back(losses(trace, runs[r].run));
        if (auto norms = gradientNorms(trace, runs[r].run); !norms.empty()) {
            table.columns.push_back({"|grad|", runs[r].mode + "_gradient_norm"});
            curves.push_back(std::move(norms));
        }
    }
    std::set<std::uint32_t> steps;
    for (const auto& curve : curves)
        for (const auto& [step, value] : curve)
            steps.insert(step);
    for (const std::uint32_t step : someOf(steps)) {
        std::vector<Cell> row{countCell(step)};
        for (const auto& curve : curves) {
            const auto found = curve.find(step);
            row.push_back(numberCell(found == curve.end() ? std::nan("") : found->second, 5));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

namespace {

Json tensorsJson(const Trace& trace, RunId run)
{
    Json tensors = Json::array();
    for (const analysis::TensorNumerics& t : analysis::tensorNumerics(trace, run)) {
        tensors.push_back({{"tensor", t.tensor},
                           {"format", t.format},
                           {"steps", t.steps},
                           {"smallest_amax", finite(t.amaxMin)},
                           {"largest_amax", finite(t.amaxMax)},
                           {"last_scale", finite(t.lastScale)},
                           {"saturated_share", t.saturatedShare},
                           {"underflow_share", t.underflowShare},
                           {"zero_share", t.zeroShare},
                           {"worst_step", t.worstStep},
                           {"sqnr_db", finite(t.sqnrDb)},
                           {"lowest_sqnr_db", finite(t.sqnrMinDb)},
                           {"lag_steps", t.lagSteps},
                           {"worst_overshoot", t.worstOvershoot},
                           {"worst_lag_step", t.worstLagStep}});
    }
    return tensors;
}

Json statsJson(const Trace& trace, RunId run)
{
    Json stats = Json::array();
    for (const TensorStat& s : trace.tensorStats) {
        if (s.run == run)
            stats.push_back({{"step", s.step},
                             {"tensor", s.tensor},
                             {"format", s.format},
                             {"amax", finite(s.amax)},
                             {"scale", finite(s.scale)},
                             {"count", s.count},
                             {"saturated", s.saturated},
                             {"underflowed", s.underflowed},
                             {"zeros", s.zeros},
                             {"sqnr_db", finite(s.sqnrDb)}});
    }
    return stats;
}

Json histogramsJson(const Trace& trace, RunId run)
{
    Json histograms = Json::array();
    for (const ExponentHistogram& h : trace.histograms) {
        if (h.run == run)
            histograms.push_back(
                {{"step", h.step}, {"tensor", h.tensor}, {"first_exponent", h.firstExponent}, {"counts", h.counts}});
    }
    return histograms;
}

Json errorsJson(const Trace& trace, RunId run)
{
    Json errors = Json::array();
    for (const analysis::ShadowError& e : analysis::shadowErrors(trace, run))
        errors.push_back({{"tensor", e.tensor},
                          {"steps", e.steps},
                          {"mean_error", e.mean},
                          {"worst_error", e.worst},
                          {"worst_step", e.worstStep}});
    return errors;
}

}  // namespace

Json numericsJson(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    Json document{{"schema_version", kJsonSchema}, {"runs", Json::array()}};
    for (const analysis::Breakdown& run : runs) {
        Json curve = Json::array();
        for (const analysis::LossPoint& point : analysis::lossCurve(trace, run.run))
            curve.push_back({{"step", point.step}, {"loss", finite(point.loss)}});
        Json norms = Json::array();
        for (const analysis::StepPoint& point : analysis::stepFigures(trace, run.run, "gradient_norm"))
            norms.push_back({{"step", point.step}, {"norm", finite(point.value)}});
        document["runs"].push_back({{"mode", run.mode},
                                    {"loss", std::move(curve)},
                                    {"gradient_norm", std::move(norms)},
                                    {"tensors", tensorsJson(trace, run.run)},
                                    {"against_bf16", errorsJson(trace, run.run)},
                                    {"stats", statsJson(trace, run.run)},
                                    {"histograms", histogramsJson(trace, run.run)}});
    }
    return document;
}

}  // namespace fp8scope::cli
