// SPDX-License-Identifier: Apache-2.0
// Figures as people read them: three significant digits and a unit that keeps them between 1 and 1000.
#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace fp8scope::analysis {
namespace {

/// Three significant digits without an exponent: "64.5", "100", "0.5", "1234". A rounding that reaches the next power
/// of ten is written with the digits of that one.
std::string threeDigits(double value)
{
    const double magnitude = std::abs(value);
    if (magnitude == 0)
        return "0";
    const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
    int decimals = std::max(0, 2 - exponent);
    if (std::abs(std::round(magnitude * std::pow(10, decimals)) / std::pow(10, decimals)) >= std::pow(10, exponent + 1))
        decimals = std::max(0, decimals - 1);
    return fmt::format("{:.{}f}", value, decimals);
}

struct Unit {
    double size;
    const char* name;
};

/// The largest unit in which the value, once rounded, is not below 1 (units from large to small).
std::string scaled(double value, std::span<const Unit> units)
{
    for (const Unit& unit : units) {
        if (std::abs(value) >= 0.9995 * unit.size)
            return threeDigits(value / unit.size) + " " + unit.name;
    }
    return threeDigits(value / units.back().size) + " " + units.back().name;
}

}  // namespace

std::string formatTime(std::int64_t ns)
{
    if (ns > -1000 && ns < 1000)
        return fmt::format("{} ns", ns);  // there are no parts of a nanosecond
    static constexpr std::array<Unit, 3> kUnits{{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}}};
    return scaled(static_cast<double>(ns), kUnits);
}

std::string formatTime(std::int64_t ns, std::string_view unit)
{
    const auto value = static_cast<double>(ns);
    if (unit == "ns")
        return fmt::format("{} ns", ns);
    if (unit == "us")
        return fmt::format("{:.1f} µs", value / 1e3);
    if (unit == "ms")
        return fmt::format("{:.3f} ms", value / 1e6);
    if (unit == "s")
        return fmt::format("{:.6f} s", value / 1e9);
    return formatTime(ns);
}

std::string formatFlops(double flopsPerSecond)
{
    static constexpr std::array<Unit, 5> kUnits{
        {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}}};
    return scaled(flopsPerSecond, kUnits);
}

std::string formatBandwidth(double bytesPerSecond)
{
    static constexpr std::array<Unit, 5> kUnits{
        {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
    return scaled(bytesPerSecond, kUnits);
}

std::string formatBytes(std::uint64_t bytes)
{
    if (bytes < 1000)
        return fmt::format("{} B", bytes);
    static constexpr std::array<Unit, 4> kUnits{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
    return scaled(static_cast<double>(bytes), kUnits);
}

std::string formatPercent(double share) { return fmt::format("{:.1f}%", 100 * share); }

}  // namespace fp8scope::analysis
