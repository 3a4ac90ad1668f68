// SPDX-License-Identifier: Apache-2.0
// Layers' bills, joins of two runs, tensor statistics.
#include "app/analysis/compare.h"
#include "app/analysis/layers.h"
#include "app/analysis/numerics.h"
#include "tests/app/analysis/planted_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fp8scope::analysis {
namespace {

using testing::HasSubstr;

Trace threeModes()
{
    return test::plantedTrace(test::h100(), {.widths = {4096, 4096, 128}},
                              {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
}

TEST(Layers, CostsAddUpToTheStep)
{
    const Trace trace = threeModes();
    const std::vector<Breakdown> runs = breakdowns(trace);
    const std::vector<LayerRow> table = layerTable(trace, runs);
    ASSERT_EQ(table.size(), 3U);  // two layers and the rest
    EXPECT_EQ(table[0].name, "layer0");
    EXPECT_EQ(table[2].name, "(no layer)");
    for (std::size_t r = 0; r < runs.size(); ++r) {
        std::int64_t sum = 0;
        for (const LayerRow& row : table)
            sum += row.costs[r].totalNs();
        EXPECT_EQ(sum, runs[r].stepNs);
    }
}

TEST(Layers, VerdictsSayWhatFp8Costs)
{
    const Trace trace = threeModes();
    const std::vector<LayerRow> table = layerTable(trace, breakdowns(trace));
    EXPECT_EQ(table[0].precision, "fp8");
    EXPECT_TRUE(table[0].verdicts[0].text.empty());
    EXPECT_LT(table[0].verdicts[2].deltaNs, 0);
    EXPECT_THAT(table[0].verdicts[2].text, HasSubstr("fp8-fused saves"));
    EXPECT_GT(table[1].verdicts[1].deltaNs, 0);  // 128 outputs: casts of 4096 inputs cost more than the GEMM
    EXPECT_THAT(table[1].verdicts[1].text, testing::MatchesRegex("fp8 costs .* more than bf16 here"));
}

TEST(Layers, EqualLayersAreWithinNoise)
{
    test::PlantedMode again = test::bf16Mode();
    again.name = "again";
    const Trace trace = test::plantedTrace(test::h100(), {}, {test::bf16Mode(), again});
    EXPECT_THAT(layerTable(trace, breakdowns(trace))[0].verdicts[1].text, HasSubstr("within noise"));
}

std::int64_t sumOfDeltas(const std::vector<ComparedRow>& rows)
{
    std::int64_t sum = 0;
    for (const ComparedRow& row : rows)
        sum += row.deltaNs;
    return sum;
}

TEST(Compare, DeltasAddUp)
{
    const Trace trace = threeModes();
    const std::vector<Breakdown> runs = breakdowns(trace);
    const RunView from{trace, runs[0]};
    const RunView to{trace, runs[1]};
    const std::int64_t difference = runs[1].stepNs - runs[0].stepNs;
    EXPECT_EQ(sumOfDeltas(compareFamilies(from, to)), difference);
    EXPECT_EQ(sumOfDeltas(compareLayers(from, to)), difference);
    EXPECT_EQ(sumOfDeltas(compareRoles(from, to)), difference);  // the planted runs have no idle time
    EXPECT_EQ(sumOfDeltas(compareKernels(from, to)), difference);
}

TEST(Compare, KernelsAreAddedRemovedOrOnBothSides)
{
    test::TraceBuilder builder;
    builder.run("bf16").track("q").slice(0, 10, "gemm", Role::Gemm).slice(10, 5, "old", Role::Bias).step(0, 0, 15);
    builder.run("fp8").track("q").slice(20, 6, "gemm", Role::Gemm).slice(26, 30, "cast", Role::Cast).step(0, 20, 36);
    const Trace trace = builder.build();
    const std::vector<Breakdown> runs = breakdowns(trace);
    const std::vector<ComparedRow> rows = compareKernels({trace, runs[0]}, {trace, runs[1]});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].key, "cast");
    EXPECT_EQ(rows[0].state, JoinState::Added);
    EXPECT_EQ(rows[0].deltaNs, 30);
    EXPECT_EQ(rows[1].key, "old");
    EXPECT_EQ(rows[1].state, JoinState::Removed);
    EXPECT_EQ(rows[2].state, JoinState::Both);
    EXPECT_EQ(rows[2].deltaNs, -4);
}

TEST(Compare, RunsOfTwoTraces)
{
    const Trace first = test::plantedTrace(test::h100(), {}, {test::bf16Mode()});
    const Trace second = test::plantedTrace(test::h100(), {}, {test::bf16Mode()});
    const Breakdown a = breakdown(first, RunId(0));
    const Breakdown b = breakdown(second, RunId(0));
    for (const ComparedRow& row : compareKernels({first, a}, {second, b})) {
        EXPECT_EQ(row.state, JoinState::Both);
        EXPECT_EQ(row.deltaNs, 0);
        EXPECT_TRUE(row.withinNoise);
    }
}

TensorStat stat(std::string tensor, std::uint32_t step, std::uint64_t saturated, std::uint64_t underflowed, double amax)
{
    return {.step = step,
            .tensor = std::move(tensor),
            .format = "e5m2",
            .amax = amax,
            .count = 100,
            .saturated = saturated,
            .underflowed = underflowed,
            .sqnrDb = std::numeric_limits<double>::quiet_NaN()};
}

TEST(Numerics, WorstTensorsComeFirst)
{
    test::TraceBuilder builder;
    builder.run("fp8");
    builder.stat(stat("a.x", 0, 1, 0, 2)).stat(stat("a.x", 1, 0, 0, 8));
    builder.stat(stat("a.dy", 0, 0, 10, 1)).stat(stat("a.dy", 1, 0, 30, 1));
    const std::vector<TensorNumerics> tensors = tensorNumerics(builder.build(), RunId(0));
    ASSERT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[0].tensor, "a.dy");
    EXPECT_DOUBLE_EQ(tensors[0].underflowShare, 0.2);
    EXPECT_DOUBLE_EQ(tensors[0].worstStepLoss, 0.3);
    EXPECT_EQ(tensors[0].worstStep, 1U);
    EXPECT_DOUBLE_EQ(tensors[1].saturatedShare, 0.005);
    EXPECT_EQ(tensors[1].amaxMin, 2);
    EXPECT_EQ(tensors[1].amaxMax, 8);
    EXPECT_TRUE(std::isnan(tensors[1].sqnrDb));
}

TEST(Numerics, LossCurveSkipsStepsWithoutALoss)
{
    test::TraceBuilder builder;
    builder.run("fp8")
        .step(0, 0, 10, 3.5)
        .step(1, 10, 10, std::numeric_limits<double>::quiet_NaN())
        .step(2, 20, 10, 2.5);
    const std::vector<LossPoint> curve = lossCurve(builder.build(), RunId(0));
    ASSERT_EQ(curve.size(), 2U);
    EXPECT_EQ(curve[1].step, 2U);
    EXPECT_EQ(curve[1].loss, 2.5);
}

}  // namespace
}  // namespace fp8scope::analysis
