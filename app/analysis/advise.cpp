// SPDX-License-Identifier: Apache-2.0
// Runs all rules and ranks what they found.
#include "app/analysis/advise.h"

#include "app/analysis/framework.h"
#include "app/analysis/rules/rules.h"

#include <algorithm>
#include <array>
#include <map>

namespace fp8scope::analysis {
namespace {

/// Of imported runs the reader uses one framework: its words come first. An engine run stands for any.
void orderOptions(const Trace& trace, std::vector<Finding>& findings)
{
    std::map<RunId, Framework> frameworks;
    for (Finding& finding : findings) {
        if (!finding.run.valid() || trace.run(finding.run).origin != Origin::Imported)
            continue;
        const auto [entry, isNew] = frameworks.try_emplace(finding.run);
        if (isNew)
            entry->second = detectFramework(trace, finding.run);
        putOwnOptionsFirst(finding, entry->second);
    }
}

}  // namespace

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
    orderOptions(input.trace, findings);
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.gainNs > b.gainNs; });
    return findings;
}

}  // namespace fp8scope::analysis
