// SPDX-License-Identifier: Apache-2.0
// The advice rules, one file each. A rule looks at measured figures and returns what it found; nothing when all is well
// or when what it would advise is on already. Rules do not know each other.
#pragma once

#include "app/analysis/advise.h"

#include <vector>

namespace fp8scope::analysis::rules {

[[nodiscard]] std::vector<Finding> fuseCasts(const AdviceInput&);
[[nodiscard]] std::vector<Finding> biasEpilogue(const AdviceInput&);
[[nodiscard]] std::vector<Finding> biasGradient(const AdviceInput&);
[[nodiscard]] std::vector<Finding> actCast(const AdviceInput&);
[[nodiscard]] std::vector<Finding> smallLayers(const AdviceInput&);
[[nodiscard]] std::vector<Finding> unalignedDims(const AdviceInput&);
[[nodiscard]] std::vector<Finding> largerBatch(const AdviceInput&);
[[nodiscard]] std::vector<Finding> fewSteps(const AdviceInput&);
[[nodiscard]] std::vector<Finding> stayOnBf16(const AdviceInput&);

}  // namespace fp8scope::analysis::rules
