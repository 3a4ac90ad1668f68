// SPDX-License-Identifier: Apache-2.0
// Runs all rules and ranks what they found.
#include "app/analysis/advise.h"

#include "app/analysis/rules/rules.h"

#include <algorithm>
#include <array>

namespace fp8scope::analysis {

std::vector<Finding> advise(const AdviceInput& input)
{
    using Rule = std::vector<Finding> (*)(const AdviceInput&);
    static constexpr std::array<Rule, 9> kRules{rules::fuseCasts,   rules::biasEpilogue, rules::biasGradient,
                                                rules::actCast,     rules::smallLayers,  rules::unalignedDims,
                                                rules::largerBatch, rules::stayOnBf16,   rules::fewSteps};
    std::vector<Finding> findings;
    for (const Rule rule : kRules) {
        std::vector<Finding> found = rule(input);
        std::move(found.begin(), found.end(), std::back_inserter(findings));
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.gainNs > b.gainNs; });
    return findings;
}

}  // namespace fp8scope::analysis
