// SPDX-License-Identifier: Apache-2.0
// What each fusion buys: a chain from plain fp8 to all fusions, each link a difference of two modes' steps.
#pragma once

#include "app/analysis/account.h"
#include "app/analysis/repeats.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8scope::analysis {

/// A step and its 95% interval, ns.
struct AblationStep {
    std::string mode;
    std::int64_t stepNs = 0;
    Interval interval;
    std::uint32_t repeats = 1;
    RunId run;  ///< the typical one
};

struct AblationLink {
    std::string fusion;              ///< "cast_chain"
    AblationStep with;               ///< the chain up to and with it
    StepDifference difference;       ///< against the chain without it; negative: time saved
    std::vector<std::string> needs;  ///< fusions without which it cannot be
    /// The same with nothing but what it needs; nullopt where those modes were not run.
    std::optional<StepDifference> alone;
};

struct Ablation {
    std::optional<AblationStep> bf16;
    AblationStep plain;                          ///< fp8 without fusions
    std::optional<StepDifference> fp8Against16;  ///< plain against bf16
    std::vector<AblationLink> chain;             ///< at least one
    std::string skipped;  ///< fusions that were left out and why, one sentence each; may be empty

    [[nodiscard]] const AblationStep& last() const { return chain.back().with; }
};

/// The chain as a waterfall: from the plain step to the last, a bar a fusion, with its interval in the explanation.
[[nodiscard]] SpeedupAccount asAccount(const Trace&, const Ablation&);

/// The ablation that a file holds: modes of one configuration that differ by one fusion after the other, from plain fp8
/// on, in the order of plan::fusionSwitches(). nullopt without two fp8 modes of which one has a fusion more. Reads the
/// runs' configurations; a run whose configuration is not understood takes no part.
[[nodiscard]] std::optional<Ablation> ablation(const Trace&, StepLimit = {});

/// The key of `meta` under which a run tells of skipped fusions: "name: reason; name: reason".
inline constexpr const char* kAblationSkippedKey = "ablation_skipped";

}  // namespace fp8scope::analysis
