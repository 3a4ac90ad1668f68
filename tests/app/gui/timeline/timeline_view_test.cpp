// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline driven by real events: zoom, pan, select, measure, hover, fold, and what its pixels show.
#include "app/gui/theme.h"
#include "app/gui/timeline/details_panel.h"
#include "app/gui/timeline/range_panel.h"
#include "app/gui/timeline/step_navigator.h"
#include "app/gui/timeline/timeline_text.h"
#include "tests/app/gui/timeline/timeline_driver.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QTest>

namespace fp8scope::gui {
namespace {

using ::fp8scope::test::TraceBuilder;
using test::TimelineDriver;
using ::testing::DoubleNear;

constexpr TrackId kQueue{0};

/// A run of two steps of 1 ms: GEMM 600 us, cast 200 us, idle 200 us, each.
TraceBuilder& addRun(TraceBuilder& builder, std::string_view mode, std::int64_t startNs)
{
    builder.run(mode).layer("layer0", 64, 64, "fp8").track("stream 7");
    TraceOp gemm{.name = "layer0.fwd.gemm", .phase = Phase::Forward, .role = Role::Gemm};
    gemm.layer = builder.layerId("layer0");
    gemm.m = gemm.n = gemm.k = 4096;
    gemm.aType = gemm.bType = "e4m3";
    gemm.dType = "bf16";
    gemm.flops = 2.0 * 4096 * 4096 * 4096;
    for (std::uint32_t step = 0; step < 2; ++step) {
        const std::int64_t at = startNs + step * 1'000'000;
        builder.opSlice(at, 600'000, gemm, Precision::Fp8);
        builder.slice(at + 600'000, 200'000, "cast_kernel", Role::Cast);
        builder.step(step, at, 1'000'000, 0.5);
    }
    return builder;
}

Trace twoRuns()
{
    TraceBuilder builder;
    addRun(builder, "fp8", 0);
    addRun(builder, "fp8-fused", 2'500'000);
    return builder.build();
}

TEST(TimelineViewTest, ShowsTheWholeTraceAtFirst)
{
    TimelineDriver timeline(twoRuns());
    EXPECT_EQ(timeline.view().visibleSpan(), (TimeSpan{0, 4'500'000}));
}

TEST(TimelineViewTest, CtrlWheelZoomsAtTheCursorAndPlainWheelDoesNot)
{
    TimelineDriver timeline(twoRuns());
    const QPoint point(500, 100);
    const double before = timeline.scene().timeAt(500);
    timeline.wheel(point, 240, Qt::ControlModifier);
    EXPECT_LT(timeline.scene().axis.spanNs, 4'500'000);
    EXPECT_THAT(timeline.scene().timeAt(500), DoubleNear(before, 1));
    const TimeAxis axis = timeline.scene().axis;
    timeline.wheel(point, 240);
    EXPECT_EQ(timeline.scene().axis, axis);
}

TEST(TimelineViewTest, ShiftWheelAndMiddleDragPan)
{
    TimelineDriver timeline(twoRuns());
    timeline.view().showSpan({1'000'000, 2'000'000}, 0);
    timeline.wheel({500, 100}, -120, Qt::ShiftModifier);
    EXPECT_GT(timeline.scene().axis.startNs, 1'000'000);
    timeline.view().showSpan({1'000'000, 2'000'000}, 0);
    const double under = timeline.scene().timeAt(600);
    timeline.drag({600, 100}, {500, 100}, Qt::MiddleButton);
    EXPECT_THAT(timeline.scene().timeAt(500), DoubleNear(under, 1));
}

TEST(TimelineViewTest, KeysAndTheirTwinsZoomAndPan)
{
    TimelineDriver timeline(twoRuns());
    for (const auto& [in, out] : {std::pair{Qt::Key_W, Qt::Key_S}, std::pair{Qt::Key_Plus, Qt::Key_Minus}}) {
        timeline.key(in);
        EXPECT_THAT(timeline.scene().axis.spanNs, DoubleNear(3'000'000, 1));
        timeline.key(out);
        EXPECT_THAT(timeline.scene().axis.spanNs, DoubleNear(4'500'000, 1));
    }
    timeline.view().showSpan({1'000'000, 2'000'000}, 0);
    for (const auto& [later, earlier] : {std::pair{Qt::Key_D, Qt::Key_A}, std::pair{Qt::Key_Right, Qt::Key_Left}}) {
        timeline.key(later);
        EXPECT_THAT(timeline.scene().axis.startNs, DoubleNear(1'150'000, 1));
        timeline.key(earlier);
        EXPECT_THAT(timeline.scene().axis.startNs, DoubleNear(1'000'000, 1));
    }
    timeline.key(Qt::Key_Home);
    EXPECT_EQ(timeline.view().visibleSpan(), (TimeSpan{0, 4'500'000}));
}

TEST(TimelineViewTest, BackspaceReturnsToTheViewBefore)
{
    TimelineDriver timeline(twoRuns());
    timeline.view().showSpan({1'000'000, 2'000'000}, 0);
    timeline.view().showSpan({1'400'000, 1'500'000}, 0);
    timeline.key(Qt::Key_Backspace);
    EXPECT_EQ(timeline.view().visibleSpan(), (TimeSpan{1'000'000, 2'000'000}));
    timeline.key(Qt::Key_Right, Qt::AltModifier);
    EXPECT_EQ(timeline.view().visibleSpan(), (TimeSpan{1'400'000, 1'500'000}));
    timeline.key(Qt::Key_Left, Qt::AltModifier);
    timeline.key(Qt::Key_Backspace);
    EXPECT_EQ(timeline.view().visibleSpan(), (TimeSpan{0, 4'500'000}));
}

TEST(TimelineViewTest, AClickSelectsTheSliceWithAllItsIds)
{
    TimelineDriver timeline(twoRuns());
    timeline.click(timeline.pointOf({kQueue, 2}));
    const Selection& selection = timeline.context.selection();
    EXPECT_EQ(selection.slice, (SliceRef{kQueue, 2}));
    EXPECT_EQ(selection.run, RunId(0));
    EXPECT_EQ(timeline.trace().op(selection.op).name, "layer0.fwd.gemm");
    EXPECT_EQ(selection.layer, LayerId(0));
    timeline.key(Qt::Key_Escape);
    EXPECT_TRUE(timeline.context.selection().empty());
}

TEST(TimelineViewTest, DetailsSayWhatTheSliceIs)
{
    TimelineDriver timeline(twoRuns());
    timeline.click(timeline.pointOf({kQueue, 2}));
    const std::string text = timeline.page.details()->text().toStdString();
    for (const char* part :
         {"layer0.fwd.gemm", "GEMM fp8", "forward", "M 4096 N 4096 K 4096", "e4m3 × e4m3 → bf16", "start 1.00 ms",
          "600 µs", "229 TFLOP/s", "stream 7", "after cast_kernel", "gap of 200 µs"})
        EXPECT_THAT(text, testing::HasSubstr(part));
}

TEST(TimelineViewTest, DraggingMeasuresARangeAndClickingEmptyPlacesKeepsIt)
{
    TimelineDriver timeline(twoRuns());
    const std::size_t row = timeline.rowOf(Row::Kind::Lane);
    timeline.drag(timeline.pointAt(1'000'000, row), timeline.pointAt(2'000'000, row));
    ASSERT_TRUE(timeline.context.range());
    const double pixelNs = timeline.scene().axis.nsPerPx();
    EXPECT_THAT(static_cast<double>(timeline.context.range()->startNs), DoubleNear(1'000'000, 2 * pixelNs));
    EXPECT_THAT(static_cast<double>(timeline.context.range()->endNs), DoubleNear(2'000'000, 2 * pixelNs));
    EXPECT_TRUE(timeline.context.selection().empty());
    timeline.key(Qt::Key_Escape);
    EXPECT_FALSE(timeline.context.range());
}

TEST(TimelineViewTest, ADoubleClickZoomsToTheSlice)
{
    TimelineDriver timeline(twoRuns());
    timeline.doubleClick(timeline.pointOf({kQueue, 1}));
    EXPECT_EQ(timeline.view().visibleSpan(), (TimeSpan{500'000, 900'000}));
    EXPECT_EQ(timeline.context.selection().slice, (SliceRef{kQueue, 1}));
}

TEST(TimelineViewTest, StepsTurnIntoRanges)
{
    TimelineDriver timeline(twoRuns());
    timeline.click(timeline.pointAt(1'500'000, timeline.rowOf(Row::Kind::Steps)));
    EXPECT_EQ(timeline.context.range(), (TimeSpan{1'000'000, 2'000'000}));
    timeline.key(Qt::Key_BracketRight);
    EXPECT_EQ(timeline.context.range(), (TimeSpan{2'500'000, 3'500'000}));
    EXPECT_EQ(timeline.page.navigator()->current(), 2U);
    timeline.page.navigator()->go(-1);
    EXPECT_EQ(timeline.context.range(), (TimeSpan{1'000'000, 2'000'000}));
    EXPECT_EQ(timeline.view().visibleSpan(), (TimeSpan{950'000, 2'050'000}));
}

// The navigator once looked up the old trace's steps in the new one, as the view moves before the navigator hears of
// it.
TEST(TimelineViewTest, AnotherTraceMayHaveFewerStepsOrNone)
{
    TimelineDriver timeline(twoRuns());
    TraceBuilder one;
    one.run("fp8").track("stream 7").slice(0, 100, "gemm", Role::Gemm).step(0, 0, 100);
    auto smaller = std::make_shared<LoadedTrace>();
    smaller->trace = one.build();
    timeline.context.setLoaded(smaller);
    EXPECT_EQ(timeline.page.navigator()->current(), 0U);
    timeline.context.setLoaded(nullptr);
    EXPECT_EQ(timeline.page.navigator()->current(), std::nullopt);
}

TEST(TimelineViewTest, RMakesTheSelectionTheRange)
{
    TimelineDriver timeline(twoRuns());
    timeline.click(timeline.pointOf({kQueue, 3}));
    timeline.key(Qt::Key_R);
    EXPECT_EQ(timeline.context.range(), (TimeSpan{1'600'000, 1'800'000}));
}

TEST(TimelineViewTest, PeriodAndCommaWalkAlongTheRow)
{
    TimelineDriver timeline(twoRuns());
    timeline.click(timeline.pointOf({kQueue, 1}));
    timeline.key(Qt::Key_Period);
    EXPECT_EQ(timeline.context.selection().slice, (SliceRef{kQueue, 2}));
    timeline.key(Qt::Key_Comma);
    timeline.key(Qt::Key_Comma);
    timeline.key(Qt::Key_Comma);  // the first has none before it
    EXPECT_EQ(timeline.context.selection().slice, (SliceRef{kQueue, 0}));
}

TEST(TimelineViewTest, DownGoesToTheNextRowWithSlices)
{
    TimelineDriver timeline(twoRuns());
    timeline.click(timeline.pointOf({kQueue, 3}));
    timeline.key(Qt::Key_Down);
    EXPECT_EQ(timeline.context.selection().slice, (SliceRef{TrackId(1), 0}));
    timeline.key(Qt::Key_Up);
    EXPECT_EQ(timeline.context.selection().slice.track, kQueue);
}

TEST(TimelineViewTest, RevealScrollsUnfoldsAndZoomsToTheSelection)
{
    TimelineDriver timeline(twoRuns());
    for (const Row& row : std::vector<Row>(timeline.scene().rows.rows())) {
        if (row.isHeader())
            timeline.view().setCollapsed(row.key, true);
    }
    timeline.view().showSpan({0, 1'000}, 0);
    const SliceRef slice{TrackId(1), 1};
    timeline.context.setSelection(selectionOf(timeline.trace(), slice));
    timeline.page.reveal();
    const TimeSpan seen = timeline.view().visibleSpan();
    EXPECT_LE(seen.startNs, 3'100'000);
    EXPECT_GE(seen.endNs, 3'300'000);
    EXPECT_TRUE(timeline.scene().rows.rowOf(TrackId(1), 0));
}

TEST(TimelineViewTest, RevealOfANameGoesToItsFirstSlice)
{
    TimelineDriver timeline(twoRuns());
    Selection cast;
    cast.run = RunId(1);
    cast.name = timeline.trace().tracks[0].slices.name[1];
    timeline.context.setSelection(cast);
    timeline.view().showSpan({0, 1'000}, 0);
    timeline.page.reveal();
    const TimeSpan seen = timeline.view().visibleSpan();
    EXPECT_LE(seen.startNs, 3'100'000);
    EXPECT_GE(seen.endNs, 3'300'000);
    EXPECT_LT(seen.endNs - seen.startNs, 2'000'000);
}

TEST(TimelineViewTest, HoveringFindsSlicesGapsAndSteps)
{
    TimelineDriver timeline(twoRuns());
    const QPoint gemm = timeline.pointOf({kQueue, 0});
    timeline.hover(gemm);
    EXPECT_EQ(timeline.scene().hover.slice, (SliceRef{kQueue, 0}));
    EXPECT_THAT(hitText(timeline.scene(), timeline.scene().hover, gemm).toStdString(), testing::HasSubstr("GEMM fp8"));
    timeline.hover(timeline.pointAt(900'000, timeline.rowOf(Row::Kind::Lane)));
    EXPECT_FALSE(timeline.scene().hover.slice.valid());
    const QPoint step = timeline.pointAt(500'000, timeline.rowOf(Row::Kind::Steps));
    timeline.hover(step);
    EXPECT_EQ(timeline.scene().hover.step, 0U);
    EXPECT_EQ(hitText(timeline.scene(), timeline.scene().hover, step), QStringLiteral("step 0 · 1.00 ms · loss 0.5"));
}

TEST(TimelineViewTest, ClickingAHeaderFoldsItsRows)
{
    TimelineDriver timeline(twoRuns());
    const std::size_t before = timeline.scene().rows.rows().size();
    timeline.click({20, TimelineScene::kRulerHeight + 5});
    EXPECT_LT(timeline.scene().rows.rows().size(), before);
    timeline.click({20, TimelineScene::kRulerHeight + 5});
    EXPECT_EQ(timeline.scene().rows.rows().size(), before);
}

TEST(TimelineViewTest, HiddenRunsLeaveNoRows)
{
    TimelineDriver timeline(twoRuns());
    timeline.context.setRunVisible(RunId(0), false);
    EXPECT_FALSE(timeline.scene().rows.rowOf(kQueue, 0));
    EXPECT_TRUE(timeline.scene().rows.rowOf(TrackId(1), 0));
}

TEST(TimelineViewTest, PixelsShowFamiliesIdleAndTheFadedRest)
{
    TimelineDriver timeline(twoRuns());
    const Theme& theme = currentTheme();
    const QPoint gemm = timeline.pointOf({kQueue, 0}) - QPoint(0, 11);  // above the label
    const QPoint cast = timeline.pointOf({kQueue, 1}) - QPoint(0, 11);
    QImage picture = timeline.picture();
    EXPECT_EQ(picture.pixelColor(gemm).name(), theme.family(Family::GemmFp8).name());
    EXPECT_EQ(picture.pixelColor(cast).name(), theme.family(Family::Quantization).name());
    timeline.context.setSelection(
        {.run = {}, .slice = {}, .name = {}, .op = {}, .layer = {}, .family = Family::Quantization});
    picture = timeline.picture();
    EXPECT_EQ(picture.pixelColor(cast).name(), theme.family(Family::Quantization).name());
    EXPECT_NE(picture.pixelColor(gemm).name(), theme.family(Family::GemmFp8).name());
    EXPECT_NE(picture.pixelColor(gemm).name(), theme.background.name());
}

TEST(TimelineViewTest, MergedSlicesShowEachFamilysShareAndTheirCount)
{
    TraceBuilder builder;
    builder.run("fp8").track("stream 7");
    for (int i = 0; i < 100'000; ++i)
        builder.slice(i * 100, 70, "gemm", Role::Gemm, Precision::Fp8).slice(i * 100 + 70, 30, "cast", Role::Cast);
    TimelineDriver timeline(builder.build());
    const Row& row = timeline.scene().rows.rows()[timeline.rowOf(Row::Kind::Lane)];
    const QImage picture = timeline.picture();
    int gemm = 0, cast = 0;
    const int top = timeline.scene().rowTop(row) + kSliceInset;
    const int height = row.height - 2 * kSliceInset;
    for (int y = top; y < top + height; ++y) {
        // Over one period of the pattern, most pixels carry the plain colour.
        for (int x = 500; x < 504; ++x) {
            gemm += picture.pixelColor(x, y) == currentTheme().family(Family::GemmFp8) ? 1 : 0;
            cast += picture.pixelColor(x, y) == currentTheme().family(Family::Quantization) ? 1 : 0;
        }
    }
    EXPECT_NEAR(gemm, 0.7 * height * 3, 6);
    EXPECT_NEAR(cast, 0.3 * height * 3, 6);
    const QPoint point(500, top + height / 2);
    const Hit hit = timeline.scene().hitTest(point);
    const double perPixel = 200'000.0 / timeline.scene().axis.widthPx;
    EXPECT_NEAR(static_cast<double>(hit.merged), perPixel, 4);
    EXPECT_THAT(hitText(timeline.scene(), hit, point).toStdString(), testing::HasSubstr("Quantization"));
}

TEST(TimelineViewTest, SlicesWithoutDurationAreSeenAndCanBeSelected)
{
    TraceBuilder builder;
    builder.run("fp8")
        .track("stream 7")
        .slice(0, 1'000, "gemm", Role::Gemm)
        .slice(5'000, 0, "lost", Role::Cast)
        .slice(9'000, 1'000, "gemm", Role::Gemm);
    TimelineDriver timeline(builder.build());
    const QPoint point = timeline.pointOf({kQueue, 1});
    const Row& row = timeline.scene().rows.rows()[timeline.rowOf(Row::Kind::Lane)];
    const QColor foot =
        timeline.picture().pixelColor(point.x(), timeline.scene().rowTop(row) + row.height - kSliceInset - 2);
    EXPECT_EQ(foot.name(), currentTheme().family(Family::Quantization).name());
    timeline.click(point);
    EXPECT_EQ(timeline.context.selection().slice, (SliceRef{kQueue, 1}));
    EXPECT_THAT(timeline.page.details()->text().toStdString(), testing::HasSubstr("no duration recorded"));
}

TEST(TimelineViewTest, OverlappingSlicesAreDrawnOnLanesOfTheirOwn)
{
    TraceBuilder builder;
    builder.run("fp8")
        .track("stream 7")
        .slice(0, 1'000, "gemm", Role::Gemm, Precision::Fp8)
        .slice(500, 1'000, "cast", Role::Cast);
    TimelineDriver timeline(builder.build());
    const QImage picture = timeline.picture();
    for (const auto& [slice, family] :
         {std::pair{SliceRef{kQueue, 0}, Family::GemmFp8}, std::pair{SliceRef{kQueue, 1}, Family::Quantization}}) {
        const QPoint point = timeline.pointOf(slice);
        EXPECT_EQ(picture.pixelColor(point - QPoint(40, 5)).name(), currentTheme().family(family).name());
        EXPECT_EQ(timeline.scene().hitTest(point).slice, slice);
    }
}

TEST(TimelineViewTest, TheRangeTableCountsAndItsSharesAddUp)
{
    TimelineDriver timeline(twoRuns());
    auto& model = const_cast<RangeModel&>(timeline.page.rangePanel()->model());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    timeline.context.setRange(TimeSpan{0, 1'000'000});
    const auto text = [&](int row, int column) { return model.index(row, column).data().toString().toStdString(); };
    ASSERT_EQ(model.rowCount(), 2);  // at once: what has slices
    EXPECT_EQ(text(0, RangeModel::Busy), "600 µs");
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return model.rowCount() == 3; }, 60'000));  // then exposed times, and idle with them
    EXPECT_EQ(text(0, RangeModel::FamilyColumn), "GEMM fp8");
    EXPECT_EQ(text(0, RangeModel::Count), "1");
    EXPECT_EQ(text(0, RangeModel::Share), "60.0%");
    EXPECT_EQ(text(1, RangeModel::Exposed), "200 µs");
    EXPECT_EQ(text(1, RangeModel::Share), "20.0%");
    EXPECT_EQ(text(2, RangeModel::FamilyColumn), "Idle");
    EXPECT_EQ(text(2, RangeModel::Share), "20.0%");
}

TEST(TimelineViewTest, AnEmptyTraceAndNoTraceArePaintedAndDriven)
{
    TimelineDriver timeline(TraceBuilder().run("fp8").build());
    for (const bool closed : {false, true}) {
        if (closed)
            timeline.context.setLoaded(nullptr);
        EXPECT_FALSE(timeline.picture().isNull());
        for (const Qt::Key key :
             {Qt::Key_W, Qt::Key_F, Qt::Key_R, Qt::Key_Period, Qt::Key_Down, Qt::Key_0, Qt::Key_Backspace})
            timeline.key(key);
        timeline.click({500, 60});
        timeline.doubleClick({500, 60});
        timeline.drag({500, 60}, {700, 60});
        timeline.page.reveal();
    }
    EXPECT_FALSE(timeline.context.range());
}

TEST(TimelineViewTest, AnotherTraceSupersedesTheOneBeingIndexed)
{
    TraceBuilder large;
    large.run("fp8").track("stream 7");
    for (int i = 0; i < 300'000; ++i)
        large.slice(i * 10, 9, "gemm", Role::Gemm);
    auto first = std::make_shared<LoadedTrace>();
    first->trace = large.build();
    TimelineDriver timeline(twoRuns());
    const auto second = timeline.context.loaded();
    timeline.context.setLoaded(first);
    timeline.context.setLoaded(second);
    timeline.waitForIndex();
    ASSERT_NE(timeline.view().index().track(TrackId(1)), nullptr);
    EXPECT_EQ(timeline.view().index().track(kQueue)->families.size(), 4U);
}

}  // namespace
}  // namespace fp8scope::gui
