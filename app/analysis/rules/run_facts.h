// SPDX-License-Identifier: Apache-2.0
// What rules need to know of a run: which fusions are on, its batch and fp8 layers, and how fast its passes move bytes.
// All of it is read off the recorded ops, so it holds for the engine's runs and for others that know their ops.
#pragma once

#include "app/analysis/advise.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fp8scope::analysis::rules {

/// Operand elements of one fp8 layer in a step: X [batch, in], W [out, in], dY [batch, out].
struct Fp8Layer {
    LayerId layer;
    std::int64_t batch = 0, in = 0, out = 0;
    [[nodiscard]] double inputs() const { return static_cast<double>(batch) * static_cast<double>(in); }
    [[nodiscard]] double weights() const { return static_cast<double>(out) * static_cast<double>(in); }
    [[nodiscard]] double gradients() const { return static_cast<double>(batch) * static_cast<double>(out); }
};

struct RunFacts {
    bool usesFp8 = false;
    bool hasFp8Units = true;  ///< of the device; true where the device is unknown
    bool delayedRecipe = false;
    bool eagerCasts = false;  ///< a quantization is a chain of kernels with full-size results between them
    bool separateTransposes = false;
    bool castTranspose = false;  ///< some kernel casts and transposes in one pass
    bool biasInEpilogue = false;
    bool biasGradientInCast = false;
    bool activationCasts = false;     ///< some activation finds the amax or casts
    std::int64_t batch = 0;           ///< rows of the forward GEMMs; 0 where unknown
    std::int64_t microBatches = 1;    ///< of a step, as the engine's configuration says; each has that many rows
    std::vector<Fp8Layer> fp8Layers;  ///< with their forward GEMM's shape

    /// Whether operands take more passes than one for the amax and one that casts and transposes.
    [[nodiscard]] bool castsAreUnfused() const { return usesFp8 && (eagerCasts || separateTransposes); }
    [[nodiscard]] bool castsAreFused() const { return castTranspose && !castsAreUnfused(); }
};
[[nodiscard]] RunFacts factsOf(const Trace&, const Breakdown&);

/// The fastest other fp8 run of the same file with its casts fused and the same model; nullptr without one.
[[nodiscard]] const Breakdown* fusedSibling(const AdviceInput&, const Breakdown&, const RunFacts&);

using OpFilter = std::function<bool(const OpTime&)>;
/// Sums over the ops of a run that a filter takes; per step.
struct OpSum {
    std::int64_t exposedNs = 0, busyNs = 0;
    double count = 0;  ///< launches
    double bytes = 0;  ///< the least that they must move; 0 where ops are unknown
};
[[nodiscard]] OpSum sumOps(const Trace&, const Breakdown&, const OpFilter&);
[[nodiscard]] OpFilter withRole(Role);
/// One slice each of the longest ops that a filter takes, at most `most`.
[[nodiscard]] std::vector<SliceRef> longestSlices(const Breakdown&, const OpFilter&, std::size_t most = 5);

/// A gain with an interval: the estimate itself may be off by `model` (relative, below and above), and the measurement
/// by the run's own noise. Never below 0.
void setGain(Finding& finding, const Breakdown& run, double gainNs, double modelLow, double modelHigh);

/// "In fp8 mode: ..." on a device without FP8 units, where advice is about fp8's cost and not about being faster.
[[nodiscard]] std::string titleFor(const RunFacts&, const Breakdown&, std::string title);

}  // namespace fp8scope::analysis::rules
