// SPDX-License-Identifier: GPL-3.0-or-later
// Time to pixels and back, what zooming and panning keep, and the ruler's ticks.
#include "app/gui/timeline/time_axis.h"

#include "app/gui/timeline/view_history.h"

#include <gmock/gmock.h>

namespace fp8scope::gui {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TimeAxis axisOf(double fromNs, double toNs, double widthPx)
{
    TimeAxis axis;
    axis.setBounds(fromNs, toNs);
    axis.setWidth(widthPx);
    return axis;
}

std::vector<std::string> labels(const std::vector<Tick>& ticks)
{
    std::vector<std::string> texts;
    for (const Tick& tick : ticks)
        texts.push_back(tick.label);
    return texts;
}

TEST(TimeAxisTest, MapsTheBoundsToTheEdgesAndBack)
{
    const TimeAxis axis = axisOf(1'000, 3'000, 400);
    EXPECT_DOUBLE_EQ(axis.toPx(1'000), 0);
    EXPECT_DOUBLE_EQ(axis.toPx(3'000), 400);
    EXPECT_DOUBLE_EQ(axis.toNs(100), 1'500);
    EXPECT_DOUBLE_EQ(axis.nsPerPx(), 5);
}

TEST(TimeAxisTest, ZoomKeepsTheTimeUnderTheCursor)
{
    TimeAxis axis = axisOf(0, 1e9, 1'000);
    const double before = axis.toNs(730);
    axis.zoom(40, 730);
    EXPECT_THAT(axis.toNs(730), DoubleNear(before, 1e-3));
    EXPECT_DOUBLE_EQ(axis.spanNs, 1e9 / 40);
}

TEST(TimeAxisTest, ZoomStopsAtTheShortestSpanAndAtTheWholeTrace)
{
    TimeAxis axis = axisOf(0, 1e6, 1'000);
    axis.zoom(1e12, 500);
    EXPECT_DOUBLE_EQ(axis.spanNs, TimeAxis::kMinSpanNs);
    axis.zoom(1e-12, 500);
    EXPECT_DOUBLE_EQ(axis.spanNs, 1e6 * (1 + 2 * TimeAxis::kMarginShare));
    EXPECT_LE(axis.startNs, 0);
    EXPECT_GE(axis.endNs(), 1e6);
}

TEST(TimeAxisTest, PanStopsALittleBeyondTheBounds)
{
    TimeAxis axis = axisOf(0, 1e6, 1'000);
    axis.zoom(10, 500);
    axis.pan(-1e9);
    EXPECT_DOUBLE_EQ(axis.startNs, -1e6 * TimeAxis::kMarginShare);
    axis.pan(1e9);
    EXPECT_DOUBLE_EQ(axis.endNs(), 1e6 * (1 + TimeAxis::kMarginShare));
}

TEST(TimeAxisTest, ShowLeavesAMarginOnBothSides)
{
    TimeAxis axis = axisOf(0, 1e6, 1'000);
    axis.show(400'000, 500'000, 0.5);
    EXPECT_DOUBLE_EQ(axis.startNs, 350'000);
    EXPECT_DOUBLE_EQ(axis.endNs(), 550'000);
}

TEST(TimeAxisTest, AnEmptyTraceStillHasASpan)
{
    const TimeAxis axis = axisOf(7, 7, 100);
    EXPECT_DOUBLE_EQ(axis.spanNs, TimeAxis::kMinSpanNs);
}

TEST(TimeAxisTest, ResizingKeepsTheTimeRange)
{
    TimeAxis axis = axisOf(0, 1'000, 100);
    axis.setWidth(200);
    EXPECT_DOUBLE_EQ(axis.endNs(), 1'000);
    EXPECT_DOUBLE_EQ(axis.toPx(1'000), 200);
}

TEST(TicksTest, AreRoundAndCarryOneUnit)
{
    EXPECT_THAT(labels(ticks(axisOf(0, 10e6, 500), 0, 90)),
                ElementsAre("0 ms", "2 ms", "4 ms", "6 ms", "8 ms", "10 ms"));
    EXPECT_THAT(labels(ticks(axisOf(0, 900, 300), 0, 90)), ElementsAre("0 ns", "500 ns"));
}

TEST(TicksTest, HaveAsManyDecimalsAsTheirStepNeeds)
{
    EXPECT_THAT(labels(ticks(axisOf(12'000'000, 12'000'400, 400), 0, 90)),
                ElementsAre("12.0000 ms", "12.0001 ms", "12.0002 ms", "12.0003 ms", "12.0004 ms"));
}

TEST(TicksTest, CountFromTheGivenZero)
{
    EXPECT_THAT(labels(ticks(axisOf(5'000, 8'000, 300), 5'000, 90)), ElementsAre("0 µs", "1 µs", "2 µs", "3 µs"));
}

TEST(ViewHistoryTest, GoesBackAndForwardLikeABrowser)
{
    const TimelineViewport whole{0, 100, 0}, part{10, 20, 0}, detail{12, 2, 30};
    ViewHistory history;
    history.remember(whole);
    history.remember(part);
    EXPECT_EQ(history.back(detail), part);
    EXPECT_EQ(history.back(part), whole);
    EXPECT_EQ(history.back(whole), std::nullopt);
    EXPECT_EQ(history.forward(whole), part);
    EXPECT_EQ(history.forward(part), detail);
    EXPECT_EQ(history.forward(detail), std::nullopt);
}

TEST(ViewHistoryTest, ANewJumpForgetsWhatLayAhead)
{
    const TimelineViewport a{0, 100, 0}, b{10, 20, 0}, c{50, 5, 0};
    ViewHistory history;
    history.remember(a);
    ASSERT_EQ(history.back(b), a);
    history.remember(a);
    EXPECT_EQ(history.forward(c), std::nullopt);
}

}  // namespace
}  // namespace fp8scope::gui
