// SPDX-License-Identifier: GPL-3.0-or-later
// A pyramid of summaries over one lane, so that any zoom is drawn in time that depends on the pixels and not on the
// slices. Level 0 sums 16 slices a bucket, each further level 4 buckets of the one below; about 6.5 bytes a slice.
#pragma once

#include "app/gui/timeline/lane_slices.h"

#include <array>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace fp8scope::gui {

/// Families that a slice can have: idle too, as waiting (a synchronization) is a slice but no work.
inline constexpr std::size_t kSliceFamilies = kFamilyCount;

/// What slices too short to draw one by one leave in a pixel column.
struct PixelColumn {
    std::array<float, kSliceFamilies> busyNs{};
    std::uint32_t count = 0;               ///< slices merged here; each counts in one column
    std::uint8_t family = kSliceFamilies;  ///< of one of them: what to draw where all durations are zero
};

/// A slice wide enough for a rectangle of its own; pixels from the left edge of the picture, not clipped.
struct Box {
    std::size_t position = 0;
    double leftPx = 0;
    double rightPx = 0;
};

/// What to draw of a lane. Reused between rows to avoid allocations.
struct LanePicture {
    std::vector<PixelColumn> columns;
    std::vector<Box> boxes;
};

/// Slices narrower than this are merged into columns.
inline constexpr double kBoxPx = 1.5;

struct FamilyTotals {
    std::array<std::uint64_t, kSliceFamilies> count{};
    std::array<double, kSliceFamilies> busyNs{};  ///< clipped to the range
};

class Pyramid {
public:
    /// Without levels: pictures are right, but cost a visit of every visible slice.
    Pyramid() = default;
    /// Stops early, leaving an unusable object, when `stop` is requested.
    explicit Pyramid(const LaneSlices& lane, const std::stop_token& stop = {});

    /// Fills `picture` for `width` columns from `startNs`, `nsPerPx` each. Every slice that touches the range is in it
    /// once: as a box, or counted in a column. The busy times of a bucket that lies across two columns are shared by
    /// its extent.
    void draw(const LaneSlices& lane, double startNs, double nsPerPx, int width, LanePicture& picture) const;

    /// Counts and busy times of the slices that touch [fromNs, toNs). Whole buckets enter as 32-bit floats: 7 digits.
    void addTotals(const LaneSlices& lane, std::int64_t fromNs, std::int64_t toNs, FamilyTotals& totals) const;

    /// The first position whose slice may reach past `ns`; all earlier ones end before it.
    [[nodiscard]] std::size_t firstReaching(const LaneSlices& lane, double ns) const;

    [[nodiscard]] std::size_t bytes() const;

private:
    struct Extent {
        std::int64_t startNs = 0;
        std::int64_t endNs = 0;
    };
    struct Level {
        unsigned shift =
            0;  ///< a bucket holds 2^shift slices; divisions by a variable cost more than the rest of a visit
        [[nodiscard]] std::size_t slicesPerBucket() const { return std::size_t{1} << shift; }
        [[nodiscard]] bool beginsBucket(std::size_t position) const
        {
            return (position & (slicesPerBucket() - 1)) == 0;
        }
        [[nodiscard]] std::size_t bucketOf(std::size_t position) const { return position >> shift; }
        std::vector<Extent> extents;
        std::vector<std::array<float, kSliceFamilies>> busyNs;
        std::vector<std::array<std::uint32_t, kSliceFamilies>>
            counts;  ///< empty on level 0, where counting 16 slices is cheap
    };

    void buildBase(const LaneSlices& lane, const std::stop_token& stop);
    void buildNext(const LaneSlices& lane);

    std::vector<Level> m_levels;
    /// Largest end up to each level-0 bucket; only where slices of the lane overlap (more lanes needed than a trace can
    /// number).
    std::vector<std::int64_t> m_reachNs;
};

/// A first picture without a pyramid: exact where few slices are visible, else one slice looked up a column.
void drawSampled(const LaneSlices& lane, double startNs, double nsPerPx, int width, LanePicture& picture);

}  // namespace fp8scope::gui
