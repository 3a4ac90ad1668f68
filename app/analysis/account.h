// SPDX-License-Identifier: Apache-2.0
// "Where did my 2x go": from one run's step to another's as bars that add up exactly.
#pragma once

#include "app/analysis/breakdown.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

/// The bars' names, in their order.
namespace bars {
inline constexpr std::string_view kIdealGemms = "ideal fp8 GEMMs";
inline constexpr std::string_view kGemmEfficiency = "GEMM efficiency";
inline constexpr std::string_view kLeftInSixteenBit = "layers left in 16 bit";
inline constexpr std::string_view kQuantization = "quantization";
inline constexpr std::string_view kBias = "bias";
inline constexpr std::string_view kBiasGradient = "bias gradient";
inline constexpr std::string_view kActivationNorm = "activation and norm";
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kCommunication = "communication";
inline constexpr std::string_view kMemoryOps = "memory operations";
inline constexpr std::string_view kOtherCompute = "other compute";
inline constexpr std::string_view kLaunchGaps = "launch gaps";
inline constexpr std::string_view kUnknown = "unknown";
}  // namespace bars

struct AccountBar {
    std::string name;          ///< one of bars::
    std::int64_t deltaNs = 0;  ///< negative: time gained
    std::string explanation;   ///< one sentence: what is in it and how it is computed
};

/// fromNs + sum of deltaNs == toNs, exactly.
struct SpeedupAccount {
    RunId from, to;
    std::string fromMode, toMode;
    std::int64_t fromNs = 0, toNs = 0;
    std::vector<AccountBar> bars;  ///< in the fixed order of the words; bars that are 0 on both sides are left out
    double idealGemmRatio = 1;     ///< the device's own fp8 to 16-bit peak ratio; 1 on a CPU
    double amdahlBound =
        1;  ///< best step speedup if all of the layers' 16-bit GEMMs, and nothing else, got idealGemmRatio faster
    double speedup = 1;        ///< fromNs / toNs
    Interval speedupInterval;  ///< from the intervals of the medians
    bool withinNoise = false;  ///< the intervals of the two medians overlap
    /// fp8 pays only if T_q < T_g8 * (r - 1); r is bf16 over fp8 GEMM time of the same layers.
    double quantizationPerFp8Gemm = 0, breakEven = 0;

    /// A bar's delta; 0 for one that was left out.
    [[nodiscard]] std::int64_t delta(std::string_view barName) const;
    /// What the GEMMs gained or lost as measured: the first three bars together.
    [[nodiscard]] std::int64_t gemmDeltaNs() const
    {
        return delta(bars::kIdealGemms) + delta(bars::kGemmEfficiency) + delta(bars::kLeftInSixteenBit);
    }
};

[[nodiscard]] SpeedupAccount account(const Trace&, const Breakdown& from, const Breakdown& to);
/// Of runs of two traces; layers are matched by their position in the model.
[[nodiscard]] SpeedupAccount account(const Trace& fromTrace, const Breakdown& from, const Trace& toTrace,
                                     const Breakdown& to);
/// The first 16-bit run against every other; empty when there is no 16-bit run or only one run, or they are ranks.
[[nodiscard]] std::vector<SpeedupAccount> accounts(const Trace&, const std::vector<Breakdown>&);

/// Whether a run is a 16-bit baseline: it has steps and no fp8 GEMM.
[[nodiscard]] bool isSixteenBit(const Breakdown&);
/// Whether the runs are the ranks of one job (what importers make of several processes), not modes to compare.
[[nodiscard]] bool areRanks(const std::vector<Breakdown>&);
/// The run that advice and first page are about: the fastest with fp8 GEMMs, else the fastest; nullptr without steps.
[[nodiscard]] const Breakdown* focusRun(const std::vector<Breakdown>&);
/// The device of a run's first device queue, or nullptr.
[[nodiscard]] const Device* deviceOf(const Trace&, RunId);

/// The ratio of fp8 to 16-bit peaks of a run's device: from its peaks, else 2 where it has fp8 units, else 1.
[[nodiscard]] double idealGemmRatio(const Trace&, RunId);

}  // namespace fp8scope::analysis
