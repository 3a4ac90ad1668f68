// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/lane_raster.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::gui
{
namespace
{

constexpr int kHatchPeriod = 7;
constexpr int kPatternPeriod = 4;
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
    for (std::size_t x = 0; x < picture.columns.size(); ++x) {
        if (picture.columns[x].count > 0 || picture.columns[x].busyNs != PixelColumn{}.busyNs)
            drawColumn(static_cast<int>(x), picture.columns[x],
                       emphasis.active ? emphasis.columns[x] : std::uint16_t{0}, emphasis.active, nsPerPx, top, height,
                       neutral);
    }
}

void LaneRaster::drawColumn(int x, const PixelColumn& column, std::uint16_t meant, bool emphasized, double nsPerPx,
                            int top, int height, bool neutral)
{
    const auto color = [&](std::size_t family) {
        const bool faded = emphasized && (meant >> family & 1U) == 0;
        if (neutral)
            return faded ? m_colors.fadedNeutral : m_colors.neutral;
        return faded ? m_colors.faded[family] : m_colors.fill[family];
    };
    const auto paint = [&](int from, int to, QRgb pixel) {
        const QRgb dotted = shade(pixel, m_colors.background);
        for (int y = std::max(from, 0); y < std::min(to, m_canvas.height()); ++y) {
            line(y)[x] = (x + y) % kPatternPeriod == 0 ? dotted : pixel;
        }
    };
    float sum = 0;
    for (const float busy : column.busyNs)
        sum += busy;
    if (sum <= 0) {
        if (column.family < kSliceFamilies)
            paint(top + height - kLeastHeight, top + height, color(column.family));
        return;
    }
    const double share = std::min(1.0, static_cast<double>(sum) / nsPerPx);
    const double scale = std::max(share * height, static_cast<double>(kLeastHeight)) / static_cast<double>(sum);
    double used = 0;
    int bottom = top + height;
    for (std::size_t family = 0; family < kSliceFamilies; ++family) {
        if (column.busyNs[family] <= 0)
            continue;
        used += static_cast<double>(column.busyNs[family]);
        const int upper = top + height - static_cast<int>(std::lround(used * scale));
        paint(upper, bottom, color(family));
        bottom = upper;
    }
}

}  // namespace fp8scope::gui
