// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/pyramid.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

constexpr unsigned kBaseShift = 4;
constexpr std::size_t kBaseSlices = 1U << kBaseShift;
constexpr unsigned kFanOutShift = 2;
constexpr std::size_t kFanOut = 1U << kFanOutShift;
/// Without a pyramid, up to this many slices a lane are visited one by one.
constexpr std::size_t kExactWithoutPyramid = 4096;

/// The column of a point that is at most a few pixels left of the picture. std::floor is a call on the oldest x86-64.
int pixelOf(double px)
{
    constexpr int kLeftmost = 8;
    return static_cast<int>(px + kLeftmost) - kLeftmost;
}

/// Puts busy times and counts into columns; time is in pixels here.
class ColumnSink {
public:
    ColumnSink(LanePicture& picture, int width, double nsPerPx)
        : m_columns(picture.columns), m_width(width), m_nsPerPx(nsPerPx)
    {
        picture.boxes.clear();
        m_columns.assign(static_cast<std::size_t>(width), PixelColumn{});
    }

    void addSlice(double left, double right, std::size_t family)
    {
        const double busyNs = (right - left) * m_nsPerPx;
        // Nearly every slice lies in one column, inside the picture; millions a second come through here.
        if (const int x = static_cast<int>(left); left >= 0 && right < x + 1 && x < m_width) {
            PixelColumn& column = m_columns[static_cast<std::size_t>(x)];
            column.busyNs[family] += static_cast<float>(busyNs);
            ++column.count;
            column.family = static_cast<std::uint8_t>(family);
            return;
        }
        share(left, right,
              [&](PixelColumn& column, double part) { column.busyNs[family] += static_cast<float>(busyNs * part); });
        count(left, 1, family);
    }

    void addBucket(double left, double right, const std::array<float, kSliceFamilies>& busyNs, std::size_t slices,
                   std::size_t family)
    {
        share(left, right, [&](PixelColumn& column, double part) {
            const auto weight = static_cast<float>(part);
            for (std::size_t f = 0; f < kSliceFamilies; ++f)
                column.busyNs[f] += busyNs[f] * weight;
        });
        count(left, slices, family);
    }

private:
    [[nodiscard]] PixelColumn* at(int x)
    {
        return x >= 0 && x < m_width ? &m_columns[static_cast<std::size_t>(x)] : nullptr;
    }

    /// Calls add(column, part) for the one to three columns under [left, right), which is at most kBoxPx wide.
    template <typename Add>
    void share(double left, double right, Add add)
    {
        const int first = pixelOf(left);
        const int last = pixelOf(right);
        if (first == last) {
            if (PixelColumn* column = at(first))
                add(*column, 1.0);
            return;
        }
        for (int x = first; x <= last; ++x) {
            const double part = (std::min(right, x + 1.0) - std::max(left, static_cast<double>(x))) / (right - left);
            if (PixelColumn* column = at(x))
                add(*column, part);
        }
    }

    void count(double left, std::size_t slices, std::size_t family)
    {
        const int x = std::clamp(pixelOf(left), 0, m_width - 1);
        PixelColumn& column = m_columns[static_cast<std::size_t>(x)];
        column.count += static_cast<std::uint32_t>(slices);
        column.family = static_cast<std::uint8_t>(family);
    }

    std::vector<PixelColumn>& m_columns;
    int m_width;
    double m_nsPerPx;
};

/// One slice found a column: its family fills the part of the column that it covers.
void sampleColumns(const LaneSlices& lane, double startNs, double nsPerPx, int width, LanePicture& picture)
{
    ColumnSink sink(picture, width, nsPerPx);
    for (int x = 0; x < width; ++x) {
        std::size_t position = lane.firstStartingAt(startNs + x * nsPerPx);
        if (position > 0 && static_cast<double>(lane.endNs(position - 1)) > startNs + x * nsPerPx)
            --position;
        if (position == lane.size())
            break;
        const double left = (static_cast<double>(lane.startNs(position)) - startNs) / nsPerPx;
        const double right = (static_cast<double>(lane.endNs(position)) - startNs) / nsPerPx;
        if (left < x + 1)
            sink.addSlice(std::max(left, static_cast<double>(x)), std::min(std::max(left, right), x + 1.0),
                          lane.family(position));
    }
}

}  // namespace

std::size_t LaneSlices::firstStartingAt(double ns) const
{
    const auto before = [ns](std::int64_t start) { return static_cast<double>(start) < ns; };
    const auto& starts = track->slices.startNs;
    if (order.empty())
        return static_cast<std::size_t>(std::partition_point(starts.begin(), starts.end(), before) - starts.begin());
    return static_cast<std::size_t>(
        std::partition_point(order.begin(), order.end(), [&](std::uint32_t i) { return before(starts[i]); }) -
        order.begin());
}

Pyramid::Pyramid(const LaneSlices& lane, const std::stop_token& stop)
{
    if (lane.size() < kBaseSlices)
        return;
    buildBase(lane, stop);
    while (!stop.stop_requested() && m_levels.back().extents.size() > kFanOut)
        buildNext(lane);
}

void Pyramid::buildBase(const LaneSlices& lane, const std::stop_token& stop)
{
    Level level{.shift = kBaseShift};
    const std::size_t buckets = (lane.size() + kBaseSlices - 1) / kBaseSlices;
    level.extents.resize(buckets);
    level.busyNs.resize(buckets);
    std::int64_t reach = INT64_MIN;
    bool overlapping = false;
    std::vector<std::int64_t> reaches(buckets);
    for (std::size_t b = 0; b < buckets; ++b) {
        if (b % 4096 == 0 && stop.stop_requested())
            return;
        const std::size_t end = std::min((b + 1) * kBaseSlices, lane.size());
        Extent extent{lane.startNs(b * kBaseSlices), INT64_MIN};
        for (std::size_t p = b * kBaseSlices; p < end; ++p) {
            const std::int64_t sliceEnd = lane.endNs(p);
            overlapping |= lane.startNs(p) < reach;
            reach = std::max(reach, sliceEnd);
            extent.endNs = std::max(extent.endNs, sliceEnd);
            level.busyNs[b][lane.family(p)] += static_cast<float>(lane.durNs(p));
        }
        level.extents[b] = extent;
        reaches[b] = reach;
    }
    m_levels.push_back(std::move(level));
    if (overlapping)
        m_reachNs = std::move(reaches);
}

void Pyramid::buildNext(const LaneSlices& lane)
{
    const Level& below = m_levels.back();
    Level level{.shift = below.shift + kFanOutShift};
    const std::size_t buckets = (below.extents.size() + kFanOut - 1) / kFanOut;
    level.extents.resize(buckets);
    level.busyNs.resize(buckets);
    level.counts.resize(buckets);
    for (std::size_t p = 0; p < lane.size() && below.counts.empty(); ++p)
        ++level.counts[level.bucketOf(p)][lane.family(p)];
    for (std::size_t b = 0; b < buckets; ++b) {
        const std::size_t end = std::min((b + 1) * kFanOut, below.extents.size());
        level.extents[b] = {below.extents[b * kFanOut].startNs, INT64_MIN};
        for (std::size_t child = b * kFanOut; child < end; ++child) {
            level.extents[b].endNs = std::max(level.extents[b].endNs, below.extents[child].endNs);
            for (std::size_t f = 0; f < kSliceFamilies; ++f)
                level.busyNs[b][f] += below.busyNs[child][f];
            for (std::size_t f = 0; f < kSliceFamilies && !below.counts.empty(); ++f)
                level.counts[b][f] += below.counts[child][f];
        }
    }
    m_levels.push_back(std::move(level));
}

std::size_t Pyramid::firstReaching(const LaneSlices& lane, double ns) const
{
    if (!m_reachNs.empty()) {
        const auto bucket = std::partition_point(m_reachNs.begin(), m_reachNs.end(),
                                                 [ns](std::int64_t reach) { return static_cast<double>(reach) <= ns; });
        return std::min(static_cast<std::size_t>(bucket - m_reachNs.begin()) * kBaseSlices, lane.size());
    }
    const std::size_t position = lane.firstStartingAt(ns);
    return position > 0 && static_cast<double>(lane.endNs(position - 1)) > ns ? position - 1 : position;
}

void Pyramid::draw(const LaneSlices& lane, double startNs, double nsPerPx, int width, LanePicture& picture) const
{
    ColumnSink sink(picture, width, nsPerPx);
    const double endNs = startNs + nsPerPx * width;
    const std::size_t size = lane.size();
    const double pxPerNs = 1 / nsPerPx;
    const auto px = [&](std::int64_t ns) { return (static_cast<double>(ns) - startNs) * pxPerNs; };
    // The widest level whose bucket begins at `position` and is at most a pixel long; -1: none.
    const auto mergeable = [&](std::size_t position) {
        int found = -1;
        for (std::size_t l = 0; l < m_levels.size() && m_levels[l].beginsBucket(position); ++l) {
            const Extent& extent = m_levels[l].extents[m_levels[l].bucketOf(position)];
            if (static_cast<double>(extent.endNs - extent.startNs) > nsPerPx)
                break;
            found = static_cast<int>(l);
        }
        return found;
    };

    std::size_t position = firstReaching(lane, startNs);
    while (position < size && static_cast<double>(lane.startNs(position)) < endNs) {
        if (const int found = position % kBaseSlices == 0 ? mergeable(position) : -1; found >= 0) {
            const Level& level = m_levels[static_cast<std::size_t>(found)];
            const std::size_t bucket = level.bucketOf(position);
            const std::size_t slices = std::min(level.slicesPerBucket(), size - position);
            const double right = px(level.extents[bucket].endNs);
            if (right >= 0)  // else all of it lies before the picture, after a slice that reaches in over it
                sink.addBucket(px(level.extents[bucket].startNs), right, level.busyNs[bucket], slices,
                               lane.family(position));
            position += slices;
            continue;
        }
        const double left = px(lane.startNs(position));
        const double right = px(lane.endNs(position));
        if (right - left >= kBoxPx) {
            if (right > 0)
                picture.boxes.push_back({position, left, right});
        } else if (right > 0 || left >= 0) {
            sink.addSlice(left, right, lane.family(position));
        }
        ++position;
    }
}

void Pyramid::addTotals(const LaneSlices& lane, std::int64_t fromNs, std::int64_t toNs, FamilyTotals& totals) const
{
    const std::size_t size = lane.size();
    std::size_t position = firstReaching(lane, static_cast<double>(fromNs));
    while (position < size && lane.startNs(position) < toNs) {
        const Level* whole = nullptr;
        for (std::size_t l = 1; l < m_levels.size() && m_levels[l].beginsBucket(position); ++l) {
            const Extent& extent = m_levels[l].extents[m_levels[l].bucketOf(position)];
            if (extent.startNs < fromNs || extent.endNs > toNs)
                break;
            whole = &m_levels[l];
        }
        if (whole != nullptr) {
            const std::size_t bucket = whole->bucketOf(position);
            for (std::size_t f = 0; f < kSliceFamilies; ++f) {
                totals.count[f] += whole->counts[bucket][f];
                totals.busyNs[f] += static_cast<double>(whole->busyNs[bucket][f]);
            }
            position += whole->slicesPerBucket();
            continue;
        }
        const std::int64_t inside = std::min(lane.endNs(position), toNs) - std::max(lane.startNs(position), fromNs);
        if (inside > 0 || lane.startNs(position) >= fromNs) {
            ++totals.count[lane.family(position)];
            totals.busyNs[lane.family(position)] += static_cast<double>(std::max<std::int64_t>(inside, 0));
        }
        ++position;
    }
}

std::size_t Pyramid::bytes() const
{
    std::size_t sum = m_reachNs.capacity() * sizeof(std::int64_t);
    for (const Level& level : m_levels)
        sum += level.extents.capacity() * sizeof(Extent) + level.busyNs.capacity() * sizeof(level.busyNs[0]) +
               level.counts.capacity() * sizeof(std::array<std::uint32_t, kSliceFamilies>);
    return sum;
}

void drawSampled(const LaneSlices& lane, double startNs, double nsPerPx, int width, LanePicture& picture)
{
    const std::size_t visible =
        lane.firstStartingAt(startNs + nsPerPx * width) - std::min(lane.size(), lane.firstStartingAt(startNs));
    if (visible <= kExactWithoutPyramid)
        Pyramid().draw(lane, startNs, nsPerPx, width, picture);
    else
        sampleColumns(lane, startNs, nsPerPx, width, picture);
}

}  // namespace fp8scope::gui
