// SPDX-License-Identifier: Apache-2.0
#include "app/report/svg_charts.h"

#include "app/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace fp8scope::report {
namespace {

constexpr double kWidth = 760;
constexpr std::string_view kGood = "#1A7F4B";
constexpr std::string_view kCost = "#D55E00";
constexpr std::string_view kStep = "#8A8F98";

/// Okabe-Ito based (the app's light theme): cool is useful work, warm is overhead.
constexpr std::array<std::string_view, kFamilyCount> kColors{"#0072B2", "#56B4E9", "#A7D3EE", "#D55E00", "#E69F00",
                                                             "#009E73", "#2A9D8F", "#B0589A", "#6F5BC6", "#8C6D46",
                                                             "#8A8F98", "#C2C7CE", "#DDE1E7"};

std::string svgOpen(double height, std::string_view label)
{
    return fmt::format(
        "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\" xmlns=\"http://www.w3.org/2000/svg\">\n",
        kWidth, height, htmlEscaped(label));
}

std::string rect(double x, double y, double width, double height, std::string_view fill, std::string_view tooltip)
{
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n", x,
        y, std::max(width, 0.5), height, fill, htmlEscaped(tooltip));
}

std::string text(double x, double y, std::string_view anchor, std::string_view content)
{
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                       htmlEscaped(content));
}

std::int64_t total(const FamilyBars::Bar& bar)
{
    return std::accumulate(bar.ns.begin(), bar.ns.end(), std::int64_t{0});
}

std::string stackedBar(const FamilyBars::Bar& bar, double y, double left, double nsToX)
{
    std::string out = text(left - 8, y + 18, "end", bar.mode);
    double x = left;
    for (std::size_t f = 0; f < bar.ns.size(); ++f) {
        if (bar.ns[f] <= 0)
            continue;
        const auto family = static_cast<Family>(f);
        const double width = static_cast<double>(bar.ns[f]) * nsToX;
        out += rect(x, y, width, 26, familyColor(family),
                    fmt::format("{}: {}", toString(family), analysis::formatTime(bar.ns[f])));
        x += width;
    }
    return out + text(x + 6, y + 18, "start", analysis::formatTime(total(bar)));
}

std::string legend(const FamilyBars& chart, double y)
{
    std::string out;
    int column = 0;
    for (std::size_t f = 0; f < kFamilyCount; ++f) {
        if (std::none_of(chart.bars.begin(), chart.bars.end(), [&](const auto& bar) { return bar.ns[f] > 0; }))
            continue;
        const double x = 100 + 160 * (column % 4);
        const double top = y + 20 * (column / 4);
        out += rect(x, top, 12, 12, kColors[f], toString(static_cast<Family>(f)));
        out += text(x + 18, top + 10, "start", toString(static_cast<Family>(f)));
        ++column;
    }
    return out;
}

/// A label on two lines at most, broken at the space that is nearest to its middle.
std::string axisLabel(double x, double y, std::string_view label)
{
    constexpr std::size_t kFitsOneLine = 11;
    std::size_t best = std::string_view::npos;
    const auto fromMiddle = [&](std::size_t at) {
        return at > label.size() / 2 ? at - label.size() / 2 : label.size() / 2 - at;
    };
    for (std::size_t at = label.find(' '); at != std::string_view::npos; at = label.find(' ', at + 1)) {
        if (best == std::string_view::npos || fromMiddle(at) < fromMiddle(best))
            best = at;
    }
    if (label.size() <= kFitsOneLine || best == std::string_view::npos)
        return text(x, y, "middle", label);
    return text(x, y, "middle", label.substr(0, best)) + text(x, y + 14, "middle", label.substr(best + 1));
}

struct Scale {
    double top, height, largestNs;
    [[nodiscard]] double y(double ns) const { return top + height * (1 - ns / largestNs); }
};

double largestLevel(const analysis::SpeedupAccount& account)
{
    std::int64_t level = account.fromNs;
    std::int64_t largest = std::max(account.fromNs, account.toNs);
    for (const analysis::AccountBar& bar : account.bars) {
        level += bar.deltaNs;
        largest = std::max(largest, level);
    }
    return static_cast<double>(std::max<std::int64_t>(largest, 1));
}

}  // namespace

std::string htmlEscaped(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out += c;
        }
    }
    return out;
}

std::string_view familyColor(Family family) { return kColors[static_cast<std::size_t>(family)]; }

std::string familyBarsSvg(const FamilyBars& chart)
{
    constexpr double kLeft = 100;
    std::int64_t longest = 1;
    for (const auto& bar : chart.bars)
        longest = std::max(longest, total(bar));
    const double nsToX = (kWidth - kLeft - 90) / static_cast<double>(longest);
    const double legendY = 38 * static_cast<double>(chart.bars.size()) + 10;
    std::string out = svgOpen(legendY + 80, "Exposed time of a step by family");
    for (std::size_t i = 0; i < chart.bars.size(); ++i)
        out += stackedBar(chart.bars[i], 38 * static_cast<double>(i), kLeft, nsToX);
    return out + legend(chart, legendY) + "</svg>\n";
}

std::string waterfallSvg(const analysis::SpeedupAccount& account)
{
    const Scale scale{24, 200, largestLevel(account)};
    const double slot = kWidth / static_cast<double>(account.bars.size() + 2);
    const double width = slot * 0.7;
    std::string out = svgOpen(280, fmt::format("From the {} step to the {} step", account.fromMode, account.toMode));
    int position = 0;
    const auto draw = [&](std::int64_t lowNs, std::int64_t highNs, std::string_view fill, std::string_view value,
                          std::string_view label) {
        const double x = slot * position + (slot - width) / 2;
        const double y = scale.y(static_cast<double>(highNs));
        out += rect(x, y, width, std::max(scale.y(static_cast<double>(lowNs)) - y, 1.0), fill,
                    fmt::format("{}: {}", label, value));
        out += text(x + width / 2, y - 5, "middle", value);
        out += axisLabel(x + width / 2, scale.top + scale.height + 18, label);
        ++position;
    };
    draw(0, account.fromNs, kStep, analysis::formatTime(account.fromNs), account.fromMode + " step");
    std::int64_t level = account.fromNs;
    for (const analysis::AccountBar& bar : account.bars) {
        const std::int64_t next = level + bar.deltaNs;
        draw(std::min(level, next), std::max(level, next), bar.deltaNs < 0 ? kGood : kCost, formatDelta(bar.deltaNs),
             bar.name);
        level = next;
    }
    draw(0, account.toNs, kStep, analysis::formatTime(account.toNs), account.toMode + " step");
    return out + "</svg>\n";
}

}  // namespace fp8scope::report
