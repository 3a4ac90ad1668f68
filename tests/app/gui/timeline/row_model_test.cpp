// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows a trace has, in which order, and what folding and hiding leave of them; printed as text.
#include "app/gui/timeline/row_model.h"

#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

namespace fp8scope::gui {
namespace {

using test::TraceBuilder;

Trace twoRuns()
{
    return TraceBuilder()
        .run("bf16")
        .track("stream 7")
        .slice(0, 100, "gemm", Role::Gemm)
        .slice(50, 100, "cast", Role::Cast)
        .track("unused")
        .step(0, 0, 150)
        .run("fp8")
        .track("stream 7")
        .slice(1'000, 50, "gemm", Role::Gemm)
        .track("main", TrackKind::CpuThread)
        .slice(990, 40, "outer")
        .slice(995, 10, "inner")
        .track("power, W", TrackKind::Counter)
        .sample(1'000, 300)
        .build();
}

std::string printed(const RowModel& model)
{
    std::string text;
    for (const Row& row : model.rows()) {
        const char* mark = row.isHeader() ? (row.collapsed ? "+ " : "- ") : "";
        text += std::string(static_cast<std::size_t>(row.depth) * 2, ' ') + mark + row.label.toStdString() + "\n";
    }
    return text;
}

bool all(RunId) { return true; }

TEST(RowModelTest, GroupsByRunThenDeviceThreadsAndCounters)
{
    const Trace trace = twoRuns();
    RowModel model;
    model.rebuild(&trace, all);
    EXPECT_EQ(printed(model), "- bf16 · measured on a GPU\n"
                              "  steps\n"
                              "  stream 7\n"
                              "    lane 2 (overlap)\n"
                              "- fp8 · measured on a GPU\n"
                              "  - test GPU\n"
                              "    stream 7\n"
                              "  - test · process 1\n"
                              "    main\n"
                              "      depth 2\n"
                              "  - counters\n"
                              "    power, W\n");
}

TEST(RowModelTest, HiddenRunsHaveNoRows)
{
    const Trace trace = twoRuns();
    RowModel model;
    model.rebuild(&trace, [](RunId run) { return run == RunId(0); });
    EXPECT_EQ(printed(model).find("fp8"), std::string::npos);
    EXPECT_FALSE(model.rowOf(TrackId(2), 0));
}

TEST(RowModelTest, FoldedHeadersHideTheirRowsAndUnfoldForATrack)
{
    const Trace trace = twoRuns();
    RowModel model;
    model.rebuild(&trace, all);
    for (const Row& row : std::vector<Row>(model.rows())) {
        if (row.isHeader())
            model.setCollapsed(row.key, true);
    }
    model.rebuild(&trace, all);
    EXPECT_EQ(printed(model), "+ bf16 · measured on a GPU\n+ fp8 · measured on a GPU\n");
    EXPECT_FALSE(model.rowOf(TrackId(2), 0));
    model.unfold(trace, TrackId(2));
    model.rebuild(&trace, all);
    EXPECT_TRUE(model.rowOf(TrackId(2), 0));
}

TEST(RowModelTest, RowsLieOneBelowTheOther)
{
    const Trace trace = twoRuns();
    RowModel model;
    model.rebuild(&trace, all);
    int y = 0;
    for (std::size_t r = 0; r < model.rows().size(); ++r) {
        EXPECT_EQ(model.rows()[r].y, y);
        EXPECT_EQ(model.rowAt(y), r);
        y += model.rows()[r].height;
        EXPECT_EQ(model.rowAt(y - 1), r);
    }
    EXPECT_EQ(model.height(), y);
    EXPECT_EQ(model.rowAt(y), std::nullopt);
    EXPECT_EQ(model.rowAt(-1), std::nullopt);
}

TEST(RowModelTest, NoTraceHasNoRows)
{
    RowModel model;
    model.rebuild(nullptr, all);
    EXPECT_TRUE(model.rows().empty());
    EXPECT_EQ(model.height(), 0);
}

TEST(RowModelTest, ARunThatWasCutShortReachesToItsLastWork)
{
    Trace trace = twoRuns();
    trace.runs[0].endNs = trace.runs[0].startNs;
    trace.runs[0].complete = false;
    EXPECT_EQ(runExtent(trace, RunId(0)).endNs, 150);
    EXPECT_EQ(runExtent(trace, RunId(1)).startNs, 990);
    EXPECT_EQ(runExtent(trace, RunId(1)).endNs, 1'050);
}

TEST(RowModelTest, OverlappingSlicesLieOnTheirOwnLane)
{
    const Trace trace = twoRuns();
    EXPECT_EQ(laneOf(trace, {TrackId(0), 0}), 0U);
    EXPECT_EQ(laneOf(trace, {TrackId(0), 1}), 1U);
}

}  // namespace
}  // namespace fp8scope::gui
