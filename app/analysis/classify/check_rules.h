// SPDX-License-Identifier: Apache-2.0
// What is wrong with a rule file that parses: rules that never decide.
#pragma once

#include "app/analysis/classify/kernel_classifier.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

struct RuleUse {
    const KernelRule* rule = nullptr;
    std::size_t decides = 0;             ///< names of which it is the first rule to take them
    std::size_t takes = 0;               ///< names that its expressions take
    const KernelRule* shadow = nullptr;  ///< the rule that decides most of what it takes; of rules that decide nothing
};

/// One entry a rule of `classifier`, in order, over the names (distinct kernels, any spelling).
[[nodiscard]] std::vector<RuleUse> ruleUses(const KernelClassifier& classifier,
                                            std::span<const std::string_view> names);

/// Kernel names of many libraries with their roles, built in (resources/known_kernels.txt): what a rule can be tried on
/// without a trace.
struct KnownKernel {
    Role role = Role::Other;
    Precision precision = Precision::Unknown;
    std::string_view name;
};
[[nodiscard]] std::vector<KnownKernel> knownKernels();

}  // namespace fp8scope::analysis
