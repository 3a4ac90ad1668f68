// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/lane_raster.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

constexpr int kHatchPeriod = 7;
constexpr int kPatternPeriod = 4;  ///< a power of two
constexpr int kLeastHeight = 3;

QRgb mix(const QColor& a, const QColor& b, double shareOfB)
{
    const auto channel = [shareOfB](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * shareOfB)); };
    return qRgb(channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue()));
}

/// A sixth of the way to `b`, fast.
QRgb shade(QRgb a, QRgb b)
{
    const auto channel = [](int x, int y) { return (x * 5 + y) / 6; };
    return qRgb(channel(qRed(a), qRed(b)), channel(qGreen(a), qGreen(b)), channel(qBlue(a), qBlue(b)));
}

}  // namespace

RasterColors::RasterColors(const Theme& theme)
    : background(theme.background.rgb()), hatch(mix(theme.background, theme.family(Family::Idle), 0.8)),
      neutral(mix(theme.background, theme.dim, 0.32)), fadedNeutral(mix(theme.background, theme.dim, 0.14)),
      neutralText(theme.text.rgb())
{
    for (std::size_t f = 0; f < fill.size(); ++f) {
        const QColor color = theme.family(static_cast<Family>(f));
        fill[f] = color.rgb();
        faded[f] = mix(theme.background, color, 0.34);
        text[f] = Theme::textOn(color).rgb();
        fadedText[f] = Theme::textOn(QColor(faded[f])).rgb();
    }
}

void LaneRaster::fill(int left, int right, int top, int height, QRgb color)
{
    for (int y = std::max(top, 0); y < std::min(top + height, m_canvas.height()); ++y) {
        std::fill(line(y) + left, line(y) + right, color);
    }
}

void LaneRaster::hatch(int left, int right, int top, int height)
{
    left = std::max(left, 0);
    right = std::min(right, m_canvas.width());
    for (int y = std::max(top, 0); y < std::min(top + height, m_canvas.height()); ++y) {
        QRgb* pixels = line(y);
        const int offset = (left + y) % kHatchPeriod;
        for (int x = left + (kHatchPeriod - offset) % kHatchPeriod; x < right; x += kHatchPeriod)
            pixels[x] = m_colors.hatch;
    }
}

LaneRaster::Extent LaneRaster::visible(const Box& box) const
{
    const double width = m_canvas.width();
    const int left = static_cast<int>(std::lround(std::clamp(box.leftPx, 0.0, width)));
    int right = static_cast<int>(std::lround(std::clamp(box.rightPx, 0.0, width)));
    if (right - left >= 4 && box.rightPx < width)
        --right;
    return {std::min(left, m_canvas.width() - 1),
            std::clamp(right, std::min(left + 1, m_canvas.width()), m_canvas.width())};
}

void LaneRaster::draw(const LanePicture& picture, const LaneSlices& lane, const LaneEmphasis& emphasis, double nsPerPx,
                      int top, int height, bool neutral)
{
    for (std::size_t b = 0; b < picture.boxes.size(); ++b) {
        const Extent extent = visible(picture.boxes[b]);
        const bool faded = emphasis.active && emphasis.boxes[b] == 0;
        const std::size_t family = lane.family(picture.boxes[b].position);
        const QRgb color = neutral ? (faded ? m_colors.fadedNeutral : m_colors.neutral)
                                   : (faded ? m_colors.faded[family] : m_colors.fill[family]);
        fill(extent.left, extent.right, top, height, color);
    }
    std::uint16_t paintMeant = 0;
    ColumnPaint paint = columnPaint(paintMeant, emphasis.active, neutral);
    for (std::size_t x = 0; x < picture.columns.size(); ++x) {
        const PixelColumn& column = picture.columns[x];
        if (column.count == 0 && column.busyNs == PixelColumn{}.busyNs)
            continue;
        // Neighbouring columns mostly mean the same families, so the colours are seldom mixed anew.
        if (emphasis.active && emphasis.columns[x] != paintMeant) {
            paintMeant = emphasis.columns[x];
            paint = columnPaint(paintMeant, true, neutral);
        }
        drawColumn(static_cast<int>(x), column, paint, height / nsPerPx, top, height);
    }
}

LaneRaster::ColumnPaint LaneRaster::columnPaint(std::uint16_t meant, bool emphasized, bool neutral) const
{
    ColumnPaint paint;
    for (std::size_t family = 0; family < paint.plain.size(); ++family) {
        const bool faded = emphasized && (meant >> family & 1U) == 0;
        paint.plain[family] = neutral ? (faded ? m_colors.fadedNeutral : m_colors.neutral)
                                      : (faded ? m_colors.faded[family] : m_colors.fill[family]);
        paint.dotted[family] = shade(paint.plain[family], m_colors.background);
    }
    return paint;
}

void LaneRaster::drawPart(int x, int from, int to, QRgb plain, QRgb dotted)
{
    from = std::max(from, 0);
    to = std::min(to, m_canvas.height());
    QRgb* pixel = line(from) + x;
    for (int y = from; y < to; ++y, pixel += m_stride)
        *pixel = ((x + y) & (kPatternPeriod - 1)) == 0 ? dotted : plain;
}

void LaneRaster::drawColumn(int x, const PixelColumn& column, const ColumnPaint& paint, double heightPerNs, int top,
                            int height)
{
    const int foot = top + height;
    int bottom = foot;
    double used = 0.5;  // rounds
    std::size_t largest = column.family;
    for (std::size_t family = 0; family < kSliceFamilies; ++family) {
        const auto busyNs = static_cast<double>(column.busyNs[family]);
        if (busyNs <= 0)
            continue;
        if (largest >= kSliceFamilies || column.busyNs[family] > column.busyNs[largest])
            largest = family;
        used += busyNs * heightPerNs;
        const int upper = foot - std::min(static_cast<int>(used), height);
        drawPart(x, upper, bottom, paint.plain[family], paint.dotted[family]);
        bottom = upper;
    }
    if (foot - bottom < kLeastHeight && largest < kSliceFamilies)
        drawPart(x, foot - kLeastHeight, foot, paint.plain[largest], paint.dotted[largest]);
}

}  // namespace fp8scope::gui
