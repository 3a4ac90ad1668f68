// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/gemm_model.h"

#include "engine/predict/tiles.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace fp8scope::predict {
namespace {

constexpr std::array kSplits{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
constexpr double kStepBytes = 128;        // of k that a main loop takes at a time
constexpr double kReferenceArea = 32768;  // elements of the tile whose end takes tileAreaUs
constexpr double kPartialSumBytes = 4;

/// Things that overlap, but not perfectly: between the largest and the sum, near the largest.
double overlapped4(double a, double b) { return std::sqrt(std::sqrt(a * a * a * a + b * b * b * b)); }

double overlapped8(double a, double b, double c)
{
    const auto power8 = [](double x) {
        const double x4 = (x * x) * (x * x);
        return x4 * x4;
    };
    return std::sqrt(std::sqrt(std::sqrt(power8(a) + power8(b) + power8(c))));
}

/// A GEMM with what does not depend on tile and split worked out.
class GemmCost {
public:
    GemmCost(const GemmMachine& machine, const GemmConstants& constants, GemmShape shape, Clock clock)
        : m_machine(machine), m_c(constants), m_clock(clock), m_m(static_cast<double>(shape.m)),
          m_n(static_cast<double>(shape.n)), m_k(static_cast<double>(shape.k)),
          m_kSteps(std::ceil(m_k * machine.operandBytes / kStepBytes)),
          m_flopsPerUs(machine.peakFlops * constants.peakFraction * 1e-6 / machine.sms),
          m_memoryBytesPerUs(machine.bandwidth * constants.dramFraction * 1e-6),
          m_aBytes(m_m * m_k * machine.operandBytes), m_bBytes(m_n * m_k * machine.operandBytes)
    {}

    [[nodiscard]] GemmTime of(Tile tile, int split) const
    {
        const double rows = tile.rows, cols = tile.cols, splitK = split;
        const double tilesM = std::ceil(m_m / rows), tilesN = std::ceil(m_n / cols);
        const double tiles = tilesM * tilesN * splitK;
        const double full = std::floor(tiles / m_machine.sms), rest = tiles - full * m_machine.sms;
        const double waves = full + (rest > 0 ? 1 : 0);
        const double steps = std::ceil(m_kSteps / splitK);

        const double end = m_c.tileUs + m_c.tileAreaUs * rows * cols / kReferenceArea;
        double compute = end * (1 + (waves - 1) * (1 - m_c.overlap));
        if (full > 0)
            compute += full * mainLoopUs(tile, steps, m_machine.sms);
        if (rest > 0)
            compute += mainLoopUs(tile, steps, rest);
        const double memory = trafficBytes(tile, tilesM, tilesN, splitK) / m_memoryBytesPerUs;
        const double arithmetic = 2 * m_m * m_n * m_k / (m_flopsPerUs * m_machine.sms);
        compute /= clockOf(overlapped4(compute, memory), std::min(1.0, arithmetic / compute));
        const double time = overlapped4(compute, memory) + reductionUs(splitK) + m_c.floorUs;
        return {.us = time,
                .tileRows = tile.rows,
                .tileCols = tile.cols,
                .splitK = split,
                .waves = static_cast<int>(std::min(waves, 1e9)),
                .computeUs = compute,
                .memoryUs = memory};
    }

    /// No choice with this tile is faster than its arithmetic alone.
    [[nodiscard]] double leastUs(Tile tile, int split) const
    {
        const double tiles = std::ceil(m_m / tile.rows) * std::ceil(m_n / tile.cols) * split;
        const double steps = std::ceil(m_kSteps / split);
        return m_c.floorUs + std::ceil(tiles / m_machine.sms) * steps * stepFlops(tile) / m_flopsPerUs;
    }

private:
    [[nodiscard]] double stepFlops(Tile tile) const
    {
        return 2.0 * tile.rows * tile.cols * kStepBytes / m_machine.operandBytes;
    }

    /// One tile's loop over k, when `active` SMs compute at the same time.
    [[nodiscard]] double mainLoopUs(Tile tile, double steps, double active) const
    {
        const double arithmetic = stepFlops(tile) / m_flopsPerUs;
        const double loadedPerUs = std::min(m_c.smGBs, m_c.l2GBs / active) * 1e3;
        const double loads = (tile.rows + tile.cols) * kStepBytes / loadedPerUs;
        return steps * overlapped8(arithmetic, loads, m_c.kStepUs);
    }

    /// Bytes through memory. A wave is a near-square group of tiles; A is read again for each group of columns and B
    /// for each group of rows, as far as L2 has lost them by then. What was just written, and is small, is still in L2.
    [[nodiscard]] double trafficBytes(Tile tile, double tilesM, double tilesN, double splitK) const
    {
        const double once = m_aBytes + m_bBytes;
        const double lost = std::max(0.0, 1 - m_c.l2Share * m_machine.l2Bytes / once);
        double again = 0;
        if (lost > 0) {
            const double wave = std::min(m_machine.sms / splitK, tilesM * tilesN);
            const double square = std::max(1.0, std::sqrt(wave * tile.cols / tile.rows));
            const double groupN = std::clamp(wave / std::min(tilesM, square), 1.0, tilesN);
            const double groupM = std::clamp(wave / groupN, 1.0, tilesM);
            again = m_aBytes * std::ceil(tilesN / groupN) + m_bBytes * std::ceil(tilesM / groupM) - once;
        }
        const double dBytes = m_m * m_n * m_machine.resultBytes;
        const double relative = (once + dBytes) / (m_c.warmShare * m_machine.l2Bytes);
        const double warm = 1 / (1 + relative * relative * relative);
        return (m_aBytes + dBytes) * (1 - warm) + m_bBytes + again * lost * m_c.rereadShare;
    }

    [[nodiscard]] double reductionUs(double splitK) const
    {
        if (splitK <= 1)
            return 0;
        return m_c.splitUs + (splitK + 1) * m_m * m_n * kPartialSumBytes / (m_c.reductionGBs * 1e3);
    }

    /// The clock relative to the burst clock. Heat comes from arithmetic: a steady run loses clock as far as its
    /// kernels keep the tensor cores busy; a burst loses it with time.
    [[nodiscard]] double clockOf(double us, double arithmeticShare) const
    {
        if (m_clock == Clock::Steady)
            return 1 - (1 - m_c.steady) * arithmeticShare;
        return m_c.sustained + (1 - m_c.sustained) / (1 + us / m_c.throttleUs);
    }

    const GemmMachine& m_machine;
    const GemmConstants& m_c;
    Clock m_clock;
    double m_m, m_n, m_k;
    double m_kSteps;
    double m_flopsPerUs;
    double m_memoryBytesPerUs;
    double m_aBytes, m_bBytes;
};

Bound boundOf(const GemmTime& time, const GemmConstants& constants)
{
    if (constants.floorUs > time.us / 2)
        return Bound::Launch;
    return time.memoryUs > time.computeUs ? Bound::Memory : Bound::Compute;
}

}  // namespace

GemmTime predictGemm(const GemmMachine& machine, const GemmConstants& constants, GemmShape shape, Clock clock)
{
    assert(shape.m > 0 && shape.n > 0 && shape.k > 0 && machine.peakFlops > 0);
    const GemmCost cost(machine, constants, shape, clock);
    const double kSteps = std::ceil(static_cast<double>(shape.k) * machine.operandBytes / kStepBytes);
    GemmTime best{.us = INFINITY};
    for (const Tile tile : tileMenu(constants.tiles)) {
        const double tiles =
            std::ceil(static_cast<double>(shape.m) / tile.rows) * std::ceil(static_cast<double>(shape.n) / tile.cols);
        for (const int split : kSplits) {
            // Split-K fills SMs that would idle; beyond two waves it only adds sums.
            if (split > constants.maxSplitK ||
                (split > 1 && (split > kSteps || tiles * split > 2 * machine.sms + tiles)))
                break;
            if (cost.leastUs(tile, split) >= best.us)
                continue;
            if (const GemmTime time = cost.of(tile, split); time.us < best.us)
                best = time;
        }
    }
    best.bound = boundOf(best, constants);
    return best;
}

std::string_view toString(Bound bound)
{
    constexpr std::array<std::string_view, 4> kWords{"compute", "memory", "launch", "host"};
    return kWords[static_cast<std::size_t>(bound)];
}

std::string_view toString(Clock clock) { return clock == Clock::Burst ? "burst" : "steady"; }

}  // namespace fp8scope::predict
