// SPDX-License-Identifier: Apache-2.0
// What to change: one file per rule (rules/), each a predicate on analysis results with evidence and an estimated gain.
#pragma once

#include "app/analysis/account.h"
#include "app/analysis/breakdown.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

struct Evidence {
    std::string text;              ///< "48 separate bias kernels, 5.2 ms a step"
    std::vector<SliceRef> slices;  ///< some of the slices behind it; may be empty
    LayerId layer;                 ///< or the layer
};

struct ConfigPatch {
    std::string key;    ///< engine configuration key: "fusion.cast_transpose", "bias", "batch", ...
    std::string value;  ///< as TOML
};

struct FrameworkOption {
    std::string framework;  ///< "torchao", "Transformer Engine", "Megatron-LM"
    std::string option;     ///< the exact option or call
};

struct Finding {
    std::string rule;  ///< stable identifier, "bias-epilogue"
    RunId run;
    std::string title;        ///< with the figure: "48 separate bias kernels, 5.2 ms a step"
    std::string why;          ///< why it matters here, a sentence or two
    std::int64_t gainNs = 0;  ///< a step; 0 for notes
    Interval gain;            ///< ns
    std::string formula;      ///< how the gain was estimated
    std::string wrongIf;      ///< what would make it wrong
    std::vector<Evidence> evidence;
    std::vector<ConfigPatch> change;
    std::vector<FrameworkOption> options;
};

/// What rules look at.
struct AdviceInput {
    const Trace& trace;
    const std::vector<Breakdown>& runs;
    const std::vector<SpeedupAccount>& accounts;
};

/// All findings, largest gain first, notes (gain 0) last. Never advises what is already on.
[[nodiscard]] std::vector<Finding> advise(const AdviceInput&);

}  // namespace fp8scope::analysis
