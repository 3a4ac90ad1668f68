// SPDX-License-Identifier: GPL-3.0-or-later
// The mapping between trace time and pixels, and what may be done to it (zoom, pan, show a range), as a plain value
// without Qt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::gui {

/// Nanoseconds [startNs, startNs + spanNs) lie on pixels [0, widthPx). The view never leaves [boundsStartNs,
/// boundsEndNs) by more than a margin of 2% of the bounds, and never shows less than kMinSpanNs.
struct TimeAxis {
    static constexpr double kMinSpanNs = 20.0;
    static constexpr double kMarginShare = 0.02;

    double startNs = 0;
    double spanNs = 1;
    double widthPx = 1;
    double boundsStartNs = 0;
    double boundsEndNs = 1;

    [[nodiscard]] double endNs() const { return startNs + spanNs; }
    [[nodiscard]] double nsPerPx() const { return spanNs / widthPx; }
    [[nodiscard]] double toPx(double ns) const { return (ns - startNs) / spanNs * widthPx; }
    [[nodiscard]] double toNs(double px) const { return startNs + px / widthPx * spanNs; }

    /// Sets what can be seen at all and shows it. An empty range becomes kMinSpanNs long.
    void setBounds(double fromNs, double toNs);
    /// Keeps the time range when the widget changes its width.
    void setWidth(double px);
    /// Shows everything.
    void fit();
    /// Shows [fromNs, toNs] with a margin of `marginShare` of its length on both sides.
    void show(double fromNs, double toNs, double marginShare = 0);
    /// factor > 1 zooms in; the time under `anchorPx` stays where it is (unless the bounds forbid it).
    void zoom(double factor, double anchorPx);
    /// Moves the view later (positive) or earlier by pixels.
    void pan(double px);

    friend bool operator==(const TimeAxis&, const TimeAxis&) = default;

private:
    void clamp();
};

/// A tick of the ruler: its time and its label, in one unit for the whole ruler ("12 ms", "12.5 ms").
struct Tick {
    double ns = 0;
    std::string label;
};

/// Ticks at 1, 2 or 5 times a power of ten, at least `minGapPx` apart; labels are relative to `zeroNs`.
[[nodiscard]] std::vector<Tick> ticks(const TimeAxis& axis, double zeroNs, double minGapPx);

}  // namespace fp8scope::gui
