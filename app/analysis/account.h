// SPDX-License-Identifier: Apache-2.0
// "Where did my 2x go": from one run's step to another's as bars that add up exactly.
#pragma once

#include "app/analysis/breakdown.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

struct AccountBar {
    std::string name;          ///< "ideal fp8 GEMMs", "GEMM efficiency", "layers left in 16 bit", "quantization", ...
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
    double amdahlBound = 1;        ///< best step speedup if only the GEMMs of fp8 layers got idealGemmRatio faster
    double speedup = 1;            ///< fromNs / toNs
    Interval speedupInterval;      ///< from the intervals of the medians
    bool withinNoise = false;      ///< the intervals of the two medians overlap
    /// fp8 pays only if T_q < T_g8 * (r - 1); r is bf16 over fp8 GEMM time of the same layers.
    double quantizationPerFp8Gemm = 0, breakEven = 0;
};

[[nodiscard]] SpeedupAccount account(const Trace&, const Breakdown& from, const Breakdown& to);
/// The first 16-bit run against every other; empty when there is no 16-bit run or only one run.
[[nodiscard]] std::vector<SpeedupAccount> accounts(const Trace&, const std::vector<Breakdown>&);

/// The ratio of fp8 to 16-bit peaks of a run's device: from its peaks, else 2 where it has fp8 units, else 1.
[[nodiscard]] double idealGemmRatio(const Trace&, RunId);

}  // namespace fp8scope::analysis
