// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/check_rules.h"

#include "app/analysis/classify/embedded_kernels.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace fp8scope::analysis {

std::vector<RuleUse> ruleUses(const KernelClassifier& classifier, std::span<const std::string_view> names)
{
    const std::span<const KernelRule> rules = classifier.rules();
    std::vector<RuleUse> uses(rules.size());
    std::vector<std::map<std::size_t, std::size_t>> deciders(rules.size());
    for (std::size_t i = 0; i < rules.size(); ++i)
        uses[i].rule = &rules[i];
    for (const std::string_view name : names) {
        const std::vector<std::size_t> matches = classifier.matchingRules(name, NameContext::Fp8);
        for (const std::size_t match : matches) {
            ++uses[match].takes;
            ++deciders[match][matches.front()];
        }
        if (!matches.empty())
            ++uses[matches.front()].decides;
    }
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const auto most = std::max_element(deciders[i].begin(), deciders[i].end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (uses[i].decides == 0 && most != deciders[i].end())
            uses[i].shadow = &rules[most->first];
    }
    return uses;
}

std::vector<KnownKernel> knownKernels()
{
    std::vector<KnownKernel> kernels;
    std::string_view rest = kEmbeddedKernels;
    for (std::size_t line = 1; !rest.empty(); ++line) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view text = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (text.empty() || text.front() == '#')
            continue;
        const std::size_t first = text.find('\t');
        const std::size_t second = text.find('\t', first + 1);
        const std::optional<Role> role = roleFromString(text.substr(0, first));
        const std::optional<Precision> precision =
            second < text.size() ? precisionFromString(text.substr(first + 1, second - first - 1)) : std::nullopt;
        if (!role || !precision)
            throw Error("a known kernel is not written as role, precision and name",
                        fmt::format("known_kernels.txt:{}", line), "report this: the file is built into the program");
        kernels.push_back({*role, *precision, text.substr(second + 1)});
    }
    return kernels;
}

}  // namespace fp8scope::analysis
