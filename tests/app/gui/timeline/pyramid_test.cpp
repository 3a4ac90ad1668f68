// SPDX-License-Identifier: GPL-3.0-or-later
// The pyramid against a plain walk over all slices: nothing is lost at any zoom, times lie where they belong.
#include "app/gui/timeline/pyramid.h"

#include "app/gui/timeline/timeline_index.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace fp8scope::gui {
namespace {

using test::TraceBuilder;

struct Shape {
    std::size_t slices;
    std::int64_t longestNs;
    std::int64_t longestGapNs;  ///< negative: slices may begin before the one before has ended
};

Trace randomTrace(const Shape& shape, unsigned seed)
{
    std::mt19937_64 random(seed);
    const auto upTo = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    TraceBuilder builder;
    builder.run("fp8").track("stream 7");
    constexpr std::array kRoles{Role::Gemm, Role::Cast, Role::Bias, Role::Optimizer, Role::Sync};
    std::int64_t now = 1'000;
    for (std::size_t i = 0; i < shape.slices; ++i) {
        const std::int64_t duration = upTo(10) == 0 ? 0 : upTo(shape.longestNs);
        const std::size_t role = static_cast<std::size_t>(upTo(kRoles.size() - 1));
        builder.slice(now, duration, "kernel" + std::to_string(role), kRoles[role], Precision::Fp8);
        now += shape.longestGapNs >= 0 ? duration + upTo(shape.longestGapNs) : upTo(duration);
    }
    return builder.build();
}

struct Window {
    double startNs, nsPerPx;
    int width;
    [[nodiscard]] double endNs() const { return startNs + nsPerPx * width; }
};

/// Windows from the whole trace down to a few slices, at odd offsets.
std::vector<Window> windowsOf(const Trace& trace)
{
    const Trace::TimeRange range = trace.timeRange();
    const double length = static_cast<double>(range.endNs - range.startNs);
    std::vector<Window> windows;
    for (const double share : {1.1, 0.7, 0.2, 0.03, 0.004, 0.0005}) {
        for (const double at : {-0.05, 0.21, 0.5, 0.93})
            windows.push_back({static_cast<double>(range.startNs) + at * length, share * length / 400, 400});
    }
    return windows;
}

bool touches(const SliceColumns& s, std::size_t i, const Window& window)
{
    const auto start = static_cast<double>(s.startNs[i]);
    const auto end = static_cast<double>(s.endNs(i));
    return start < window.endNs() && (end > window.startNs || start >= window.startNs);
}

class PyramidTest : public testing::TestWithParam<std::tuple<Shape, unsigned>> {
protected:
    Trace trace = randomTrace(std::get<0>(GetParam()), std::get<1>(GetParam()));
    const Track& track = trace.tracks[0];
    TrackIndex index = buildTrackIndex(trace, track, analysis::SliceFamilies(trace));
};

TEST_P(PyramidTest, EverySliceIsDrawnOnceAtEveryZoom)
{
    for (const Window& window : windowsOf(trace)) {
        std::uint64_t expected = 0;
        for (std::size_t i = 0; i < track.slices.size(); ++i)
            expected += touches(track.slices, i, window) ? 1 : 0;
        std::uint64_t drawn = 0;
        LanePicture picture;
        for (std::uint32_t lane = 0; lane < index.lanes.size(); ++lane) {
            index.lanes[lane].draw(index.lane(trace, track, lane), window.startNs, window.nsPerPx, window.width,
                                   picture);
            drawn += picture.boxes.size();
            for (const PixelColumn& column : picture.columns)
                drawn += column.count;
        }
        // A bucket at most a pixel long may reach over an edge of the window with slices that do not.
        std::uint64_t atEdges = 0;
        const Window wider{window.startNs - window.nsPerPx, window.nsPerPx, window.width + 2};
        for (std::size_t i = 0; i < track.slices.size(); ++i)
            atEdges += touches(track.slices, i, wider) && !touches(track.slices, i, window) ? 1 : 0;
        EXPECT_GE(drawn, expected) << "at " << window.startNs << " with " << window.nsPerPx << " ns a pixel";
        EXPECT_LE(drawn, expected + atEdges);
    }
}

TEST_P(PyramidTest, BusyTimesByFamilyAreThoseOfAPlainWalk)
{
    for (const Window& window : windowsOf(trace)) {
        std::array<double, kSliceFamilies> expected{};
        for (std::size_t i = 0; i < track.slices.size(); ++i) {
            const double inside = std::min(static_cast<double>(track.slices.endNs(i)), window.endNs()) -
                                  std::max(static_cast<double>(track.slices.startNs[i]), window.startNs);
            expected[static_cast<std::size_t>(analysis::familyOfSlice(trace, track, i))] += std::max(inside, 0.0);
        }
        std::array<double, kSliceFamilies> drawn{};
        LanePicture picture;
        for (std::uint32_t l = 0; l < index.lanes.size(); ++l) {
            const LaneSlices lane = index.lane(trace, track, l);
            index.lanes[l].draw(lane, window.startNs, window.nsPerPx, window.width, picture);
            for (const Box& box : picture.boxes)
                drawn[lane.family(box.position)] +=
                    (std::min(box.rightPx, static_cast<double>(window.width)) - std::max(box.leftPx, 0.0)) *
                    window.nsPerPx;
            for (const PixelColumn& column : picture.columns) {
                for (std::size_t f = 0; f < kSliceFamilies; ++f)
                    drawn[f] += static_cast<double>(column.busyNs[f]);
            }
        }
        // Buckets are summed in floats, and one across an edge is shared by its extent: a pixel on each side for every
        // lane.
        const double edges = 2 * window.nsPerPx * static_cast<double>(index.lanes.size());
        for (std::size_t f = 0; f < kSliceFamilies; ++f)
            EXPECT_NEAR(drawn[f], expected[f], edges + 1e-5 * expected[f] + 1e-3) << "family " << f;
    }
}

TEST_P(PyramidTest, TotalsAreExactCountsAndTimes)
{
    for (const Window& window : windowsOf(trace)) {
        const std::int64_t from = std::llround(window.startNs);
        const std::int64_t to = std::llround(window.endNs());
        if (from >= to)  // zoomed in below a nanosecond
            continue;
        FamilyTotals expected;
        for (std::size_t i = 0; i < track.slices.size(); ++i) {
            const SliceColumns& s = track.slices;
            if (s.startNs[i] >= to || (s.endNs(i) <= from && s.startNs[i] < from))
                continue;
            const auto family = static_cast<std::size_t>(analysis::familyOfSlice(trace, track, i));
            ++expected.count[family];
            expected.busyNs[family] +=
                static_cast<double>(std::max<std::int64_t>(0, std::min(s.endNs(i), to) - std::max(s.startNs[i], from)));
        }
        FamilyTotals totals;
        for (std::uint32_t lane = 0; lane < index.lanes.size(); ++lane)
            index.lanes[lane].addTotals(index.lane(trace, track, lane), from, to, totals);
        EXPECT_EQ(totals.count, expected.count);
        for (std::size_t f = 0; f < kSliceFamilies; ++f)
            EXPECT_NEAR(totals.busyNs[f], expected.busyNs[f], 1e-5 * expected.busyNs[f] + 1e-3);
    }
}

TEST_P(PyramidTest, FamiliesAreThoseOfTheAnalysis)
{
    for (std::size_t i = 0; i < track.slices.size(); ++i)
        ASSERT_EQ(index.families[i], static_cast<std::uint8_t>(analysis::familyOfSlice(trace, track, i)));
}

INSTANTIATE_TEST_SUITE_P(RandomSlices, PyramidTest,
                         testing::Combine(testing::Values(Shape{1, 50, 0}, Shape{15, 50, 5}, Shape{16, 50, 5},
                                                          Shape{17, 50, 5}, Shape{1'000, 400, 30},
                                                          Shape{20'000, 900, 200}, Shape{5'000, 10, 5'000},
                                                          Shape{3'000, 600, -1}),
                                          testing::Values(1U, 2U)));

TEST(PyramidEdgeTest, MoreOverlapsThanLanesAreStillAllDrawn)
{
    TraceBuilder builder;
    builder.run("fp8").track("stream 7");
    for (int i = 0; i < 400; ++i)
        builder.slice(i, 10'000 - i, "kernel", Role::Cast);
    const Trace trace = builder.build();
    const TrackIndex index = buildTrackIndex(trace, trace.tracks[0], analysis::SliceFamilies(trace));
    std::size_t drawn = 0;
    LanePicture picture;
    for (std::uint32_t lane = 0; lane < index.lanes.size(); ++lane) {
        // At the end of time, where only slices that began long before still run.
        index.lanes[lane].draw(index.lane(trace, trace.tracks[0], lane), 9'000, 2, 100, picture);
        drawn += picture.boxes.size();
    }
    EXPECT_EQ(drawn, 400U);
}

TEST(PyramidEdgeTest, WithoutAPyramidTheFirstPictureShowsWhatIsThere)
{
    TraceBuilder builder;
    builder.run("fp8").track("stream 7");
    for (int i = 0; i < 50'000; ++i)
        builder.slice(i * 100, 90, "gemm", Role::Gemm, Precision::Fp8);
    const Trace trace = builder.build();
    const LaneSlices lane{.trace = &trace, .track = &trace.tracks[0], .families = {}, .order = {}};
    LanePicture picture;
    drawSampled(lane, 0, 50'000, 100, picture);
    for (const PixelColumn& column : picture.columns)
        EXPECT_GT(column.busyNs[static_cast<std::size_t>(Family::GemmFp8)], 0);
    drawSampled(lane, 0, 50, 100, picture);  // few enough to be exact
    EXPECT_EQ(picture.boxes.size(), 50U);
}

TEST(PyramidEdgeTest, TakesFewBytesASlice)
{
    TraceBuilder builder;
    builder.run("fp8").track("one lane");
    for (int i = 0; i < 100'000; ++i)
        builder.slice(i * 100, 90, "gemm", Role::Gemm);
    builder.track("two lanes");
    for (int i = 0; i < 100'000; ++i)
        builder.slice(i * 100, 190, "gemm", Role::Gemm);
    const Trace trace = builder.build();
    const analysis::SliceFamilies families(trace);
    EXPECT_LT(static_cast<double>(buildTrackIndex(trace, trace.tracks[0], families).bytes()) / 100'000, 8);
    EXPECT_LT(static_cast<double>(buildTrackIndex(trace, trace.tracks[1], families).bytes()) / 100'000, 12);
}

}  // namespace
}  // namespace fp8scope::gui
