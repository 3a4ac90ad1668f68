// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fp8scope::gui {
namespace {

struct Unit {
    const char* name;
    double ns;
};
constexpr std::array kUnits{Unit{"ns", 1.0}, Unit{"µs", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};

/// The unit in which the largest visible time still reads well; times of a minute stay in seconds.
const Unit& unitFor(double largestNs)
{
    const Unit* best = &kUnits.front();
    for (const Unit& unit : kUnits) {
        if (largestNs >= unit.ns)
            best = &unit;
    }
    return *best;
}

double niceStep(double atLeast)
{
    const double power = std::pow(10.0, std::floor(std::log10(atLeast)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= atLeast * (1 - 1e-9))
            return factor * power;
    }
    return 10.0 * power;
}

}  // namespace

void TimeAxis::setBounds(double fromNs, double toNs)
{
    boundsStartNs = fromNs;
    boundsEndNs = std::max(toNs, fromNs + kMinSpanNs);
    fit();
}

void TimeAxis::setWidth(double px) { widthPx = std::max(px, 1.0); }

void TimeAxis::fit()
{
    startNs = boundsStartNs;
    spanNs = boundsEndNs - boundsStartNs;
}

void TimeAxis::show(double fromNs, double toNs, double marginShare)
{
    const double margin = (toNs - fromNs) * marginShare;
    const double middle = (fromNs + toNs) / 2;
    spanNs = std::max(toNs - fromNs + 2 * margin, kMinSpanNs);
    startNs = middle - spanNs / 2;
    clamp();
}

void TimeAxis::zoom(double factor, double anchorPx)
{
    const double anchorNs = toNs(anchorPx);
    const double largest = (boundsEndNs - boundsStartNs) * (1 + 2 * kMarginShare);
    spanNs = std::clamp(spanNs / factor, kMinSpanNs, largest);
    startNs = anchorNs - anchorPx / widthPx * spanNs;
    clamp();
}

void TimeAxis::pan(double px)
{
    startNs += px * nsPerPx();
    clamp();
}

void TimeAxis::clamp()
{
    const double margin = (boundsEndNs - boundsStartNs) * kMarginShare;
    spanNs = std::min(spanNs, boundsEndNs - boundsStartNs + 2 * margin);
    startNs =
        std::clamp(startNs, boundsStartNs - margin, std::max(boundsEndNs + margin - spanNs, boundsStartNs - margin));
}

std::vector<Tick> ticks(const TimeAxis& axis, double zeroNs, double minGapPx)
{
    const double step = std::max(niceStep(minGapPx * axis.nsPerPx()), 1.0);
    const double from = axis.startNs - zeroNs;
    const double to = axis.endNs() - zeroNs;
    const Unit& unit = unitFor(std::max(std::abs(from), std::abs(to)));
    const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step / unit.ns) - 1e-9)));
    std::vector<Tick> result;
    const double first = std::ceil(from / step - 1e-9);
    for (double i = first; i * step <= to + step * 1e-9; ++i) {
        const double ns = i * step;
        const double value = i == 0 ? 0.0 : ns / unit.ns;
        result.push_back({ns + zeroNs, fmt::format("{:.{}f} {}", value, decimals, unit.name)});
    }
    return result;
}

}  // namespace fp8scope::gui
