// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a lane's picture straight into the pixels of an image: a frame can hold a hundred thousand rectangles and
// columns, which a QPainter call each would take many frames for. All lengths are device pixels.
#pragma once

#include "app/gui/theme.h"
#include "app/gui/timeline/pyramid.h"

#include <QImage>

#include <array>
#include <span>
#include <vector>

namespace fp8scope::gui {

/// The theme's colours as pixels, each family plain and faded (not meant by the selection).
struct RasterColors {
    explicit RasterColors(const Theme& theme);
    QRgb background, hatch;
    std::array<QRgb, kFamilyCount> fill{}, faded{}, text{}, fadedText{};
    QRgb neutral, fadedNeutral, neutralText;  ///< calls and ranges that are no work of a family
};

/// What is drawn full and what faded. Without emphasis everything is full.
struct LaneEmphasis {
    bool active = false;
    std::vector<char> boxes;             ///< by box of the picture: meant by the selection
    std::vector<std::uint16_t> columns;  ///< by column: bits of the families of merged slices that are meant
};

class LaneRaster {
public:
    /// `canvas` is of a 32-bit format; both outlive this object.
    LaneRaster(QImage& canvas, const RasterColors& colors)
        : m_canvas(canvas), m_colors(colors), m_pixels(reinterpret_cast<QRgb*>(canvas.bits())),
          m_stride(canvas.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb)))
    {}

    /// Grey diagonal lines where a queue could work: what slices do not cover is idle.
    void hatch(int left, int right, int top, int height);

    /// Boxes, then merged columns over them: in each column families are stacked by their share of it, from the bottom
    /// in the order of legends, in a pattern that says that several slices are meant. Nothing that has slices is lower
    /// than 3 pixels.
    void draw(const LanePicture& picture, const LaneSlices& lane, const LaneEmphasis& emphasis, double nsPerPx, int top,
              int height, bool neutral);

    /// The visible part of a box: at least one pixel wide, with a gap to its neighbour where there is room.
    struct Extent {
        int left, right;
    };
    [[nodiscard]] Extent visible(const Box& box) const;

private:
    /// The plain and the pattern's colour of each family in a merged column.
    struct ColumnPaint {
        std::array<QRgb, kFamilyCount> plain{}, dotted{};
    };
    [[nodiscard]] ColumnPaint columnPaint(std::uint16_t meant, bool emphasized, bool neutral) const;
    void fill(int left, int right, int top, int height, QRgb color);
    void drawColumn(int x, const PixelColumn& column, const ColumnPaint& paint, double heightPerNs, int top,
                    int height);
    void drawPart(int x, int from, int to, QRgb plain, QRgb dotted);

    [[nodiscard]] QRgb* line(int y) const { return m_pixels + y * m_stride; }

    QImage& m_canvas;
    const RasterColors& m_colors;
    QRgb* m_pixels;
    qsizetype m_stride;
};

}  // namespace fp8scope::gui
