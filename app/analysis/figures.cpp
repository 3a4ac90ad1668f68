// SPDX-License-Identifier: Apache-2.0
// The cards of the first page. What each says of itself is the tooltip; resources/help/figures.md has the same in
// length.
#include "app/analysis/overview_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace fp8scope::analysis {
namespace {

const SpeedupAccount* accountOf(const std::vector<SpeedupAccount>& accounts, RunId to)
{
    const auto found =
        std::find_if(accounts.begin(), accounts.end(), [&](const SpeedupAccount& a) { return a.to == to; });
    return found == accounts.end() ? nullptr : &*found;
}

std::string formatInterval(const Interval& interval)
{
    return fmt::format("{} to {}", formatTime(std::llround(interval.low)), formatTime(std::llround(interval.high)));
}

Figure stepFigure(const Breakdown& run, const SpeedupAccount* account)
{
    Figure figure{
        .label = "Step, " + run.mode, .value = formatTime(run.stepNs), .detail = formatInterval(run.steps.interval)};
    if (account != nullptr)
        figure.detail += fmt::format("; {} {}", account->fromMode, formatTime(account->fromNs));
    figure.howComputed =
        run.steps.repeats > 1
            ? fmt::format("Median of {} steps after warm-up in {} repeats, with its 95% interval by bootstrap.",
                          run.steps.stepsOfAllRepeats, run.steps.repeats)
            : fmt::format("Median of {} steps after warm-up, with its 95% interval by order statistics.",
                          run.steps.used.size());
    return figure;
}

Figure speedupFigure(const SpeedupAccount& account)
{
    Figure figure{.label = "Speedup over " + account.fromMode, .value = fmt::format("{:.2f}×", account.speedup)};
    figure.detail = account.idealGemmRatio > 1
                        ? fmt::format("{:.2f} to {:.2f}×; Amdahl bound {:.2f}×", account.speedupInterval.low,
                                      account.speedupInterval.high, account.amdahlBound)
                        : fmt::format("{:.2f} to {:.2f}×; no FP8 units, bound 1×", account.speedupInterval.low,
                                      account.speedupInterval.high);
    figure.howComputed =
        fmt::format("{} step over {} step. The bound is what a step would gain if its 16-bit GEMMs, and nothing "
                    "else, ran {:.3g} times as fast.",
                    account.fromMode, account.toMode, account.idealGemmRatio);
    return figure;
}

Figure taxFigure(const Breakdown& focus, const std::vector<Breakdown>& runs, const SpeedupAccount* account)
{
    Figure figure{.label = "Quantization tax", .value = formatPercent(focus.quantizationTax)};
    for (const Breakdown& run : runs) {
        if (run.run != focus.run && run[Family::GemmFp8].busyNs > 0)
            figure.detail += fmt::format("{}: {}; ", run.mode, formatPercent(run.quantizationTax));
    }
    figure.detail += fmt::format("{:.2f} of fp8 GEMM time", focus.quantizationPerFp8Gemm);
    if (account != nullptr && account->breakEven > 0)
        figure.detail += fmt::format(", break-even {:.2f}", account->breakEven);
    figure.howComputed =
        "Exposed time of amax, scale, cast, transpose and padding kernels over the step. fp8 pays while "
        "quantization time over fp8 GEMM time stays below the break-even, which is the 16-bit over fp8 GEMM time "
        "of the same layers less 1.";
    return figure;
}

/// The time that the step's GEMMs would need at the device's peaks, over the time that they took; nullopt where
/// unknown.
std::optional<double> shareOfPeak(const Trace& trace, const Breakdown& run)
{
    const Device* device = deviceOf(trace, run.run);
    if (device == nullptr || run.gemmFlopsPerSecond <= 0)
        return std::nullopt;
    double idealSeconds = 0;
    double seconds = 0;
    for (const KernelTime& kernel : run.kernels) {
        if (kernel.role != Role::Gemm || kernel.flopsPerSecond <= 0)
            continue;
        const double peak = kernel.family == Family::GemmFp8  ? device->peakFp8
                            : kernel.family == Family::Gemm16 ? device->peak16
                                                              : device->peak32;
        if (peak <= 0)
            return std::nullopt;
        const double kernelSeconds = static_cast<double>(kernel.busyNs) / 1e9;
        idealSeconds += kernel.flopsPerSecond * kernelSeconds / peak;
        seconds += kernelSeconds;
    }
    return seconds > 0 ? std::optional(idealSeconds / seconds) : std::nullopt;
}

std::optional<Figure> gemmFigure(const Trace& trace, const Breakdown& focus, const std::vector<Breakdown>& runs)
{
    if (focus.gemmFlopsPerSecond <= 0)
        return std::nullopt;
    Figure figure{.label = "GEMM rate", .value = formatFlops(focus.gemmFlopsPerSecond)};
    if (const std::optional<double> share = shareOfPeak(trace, focus)) {
        figure.detail = fmt::format("{}, of this device's peak", figure.value);
        figure.value = fmt::format("{:.0f}%", 100 * *share);
    } else {
        for (const Breakdown& run : runs) {
            if (run.run != focus.run && run.gemmFlopsPerSecond > 0)
                figure.detail += fmt::format("{}{} {}", figure.detail.empty() ? "" : "; ", run.mode,
                                             formatFlops(run.gemmFlopsPerSecond));
        }
    }
    figure.howComputed =
        "Floating-point operations of all GEMMs of a step over the time that they ran; as a share of peak, the time "
        "that they would need at the device's peaks over the time that they took.";
    return figure;
}

Figure idleFigure(const Breakdown& focus)
{
    const double share = static_cast<double>(focus[Family::Idle].exposedNs) / static_cast<double>(focus.stepNs);
    return {.label = "Idle in a step",
            .value = formatPercent(share),
            .detail = fmt::format("longest gap {}", formatTime(focus.longestIdleNs)),
            .howComputed = "The part of the step in which no kernel, copy or collective ran on the device."};
}

/// The row of memory_class that holds a run's whole arena (resources/help/trace-format.md).
constexpr std::string_view kWholeArena = "whole arena";

/// The arena's bytes: classes peak at different times, so their sum would be too much.
std::uint64_t memoryBytes(const Trace& trace, RunId run)
{
    std::uint64_t sum = 0;
    for (const MemoryClass& memory : trace.memory) {
        if (memory.run != run)
            continue;
        if (memory.name == kWholeArena)
            return memory.bytes;
        sum += memory.bytes;
    }
    return sum;
}

std::optional<Figure> memoryFigure(const Trace& trace, const Breakdown& focus, const std::vector<Breakdown>& runs)
{
    const std::uint64_t bytes = memoryBytes(trace, focus.run);
    if (bytes == 0)
        return std::nullopt;
    Figure figure{.label = "Peak memory", .value = formatBytes(bytes)};
    for (const Breakdown& run : runs) {
        const std::uint64_t other = memoryBytes(trace, run.run);
        if (run.run != focus.run && other > 0)
            figure.detail += fmt::format("{}{} {}", figure.detail.empty() ? "" : "; ", run.mode, formatBytes(other));
    }
    figure.howComputed = "The bytes that the run's plan allocated at once for all its tensors.";
    return figure;
}

}  // namespace

std::vector<Figure> figures(const Trace& trace, const std::vector<Breakdown>& runs,
                            const std::vector<SpeedupAccount>& accounts)
{
    std::vector<Figure> all;
    const Breakdown* focus = focusRun(runs);
    if (focus == nullptr)
        return all;
    const SpeedupAccount* account = accountOf(accounts, focus->run);
    all.push_back(stepFigure(*focus, account));
    if (account != nullptr)
        all.push_back(speedupFigure(*account));
    if (!isSixteenBit(*focus))
        all.push_back(taxFigure(*focus, runs, account));
    if (auto gemm = gemmFigure(trace, *focus, runs))
        all.push_back(std::move(*gemm));
    all.push_back(idleFigure(*focus));
    if (auto memory = memoryFigure(trace, *focus, runs))
        all.push_back(std::move(*memory));
    return all;
}

}  // namespace fp8scope::analysis
