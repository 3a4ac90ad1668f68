// SPDX-License-Identifier: Apache-2.0
// The bill of each layer: what its GEMMs cost, what fp8 adds around them, and whether fp8 pays for it against another
// run.
#pragma once

#include "app/analysis/breakdown.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

/// Exposed time of one layer in a run's typical step; the parts add up to its total exactly.
struct LayerCost {
    RunId run;
    LayerId layer;  ///< none(): everything of no layer, and idle; or the run has no such layer
    std::int64_t gemmNs = 0, quantizationNs = 0, biasNs = 0, activationNs = 0, optimizerNs = 0, otherNs = 0;
    [[nodiscard]] std::int64_t totalNs() const
    {
        return gemmNs + quantizationNs + biasNs + activationNs + optimizerNs + otherNs;
    }
};
[[nodiscard]] LayerCost layerCost(const Breakdown&, const LayerTime&);

/// A layer against the same one of the baseline.
struct LayerVerdict {
    std::int64_t deltaNs = 0;  ///< total less the baseline's; positive: fp8 costs more
    bool withinNoise = false;  ///< |delta| is no more than the two runs' steps vary
    std::string text;          ///< "fp8 costs 1.20 ms more than bf16 here"; empty for the baseline itself
};

/// One layer (by its position in the model) in all runs of a trace.
struct LayerRow {
    std::string name;  ///< "layer0"; "(no layer)" for the last row
    std::int64_t inFeatures = 0, outFeatures = 0;
    std::string precision;               ///< of the last fp8 run that has it: "fp8" or "bf16"
    std::string reason;                  ///< why it is not fp8; may be empty
    std::vector<LayerCost> costs;        ///< one per breakdown given
    std::vector<LayerVerdict> verdicts;  ///< one per breakdown given
};

/// All layers of the runs, in model order, the layerless last. Verdicts are against the first 16-bit run (without one:
/// empty).
[[nodiscard]] std::vector<LayerRow> layerTable(const Trace&, const std::vector<Breakdown>&);

}  // namespace fp8scope::analysis
