// SPDX-License-Identifier: Apache-2.0
// What a kernel does, by its name: ordered rules, and the grammars of names that say more than a pattern can.
#pragma once

#include "app/analysis/classify/element_types.h"
#include "app/analysis/classify/kernel_rules.h"
#include "collector/trace/words.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

/// What a name tells. Views point into the classifier's rules, which must outlive it.
struct KernelClass {
    Role role = Role::Other;
    RoleSet fused{};
    Precision precision = Precision::Unknown;
    GemmTypes types;           ///< of matrix multiplications
    std::string_view library;  ///< empty where unknown
    std::string_view rule;     ///< id of the rule that decided; empty: none knew the name
    [[nodiscard]] bool known() const { return !rule.empty(); }
};

struct OpClass {
    Role role = Role::Other;
    RoleSet fused{};
    std::string_view rule;
};

/// What stands around a name. Some kernels quantize only where fp8 is used: max() is then the amax.
enum class NameContext : std::uint8_t { Any, Fp8 };

/// Immutable once made, so threads may share it.
class KernelClassifier {
public:
    /// Rules in the order in which they are tried: a user's files, then the built-in ones. Throws Error when an
    /// expression does not compile.
    explicit KernelClassifier(std::span<const RuleFile> files);
    KernelClassifier(KernelClassifier&&) noexcept;
    KernelClassifier& operator=(KernelClassifier&&) noexcept;
    ~KernelClassifier();

    /// The built-in rules alone.
    [[nodiscard]] static KernelClassifier builtIn();

    /// A kernel's, copy's or memset's name in any tool's spelling, mangled or not. 1 to 30 us, whatever its length.
    [[nodiscard]] KernelClass classify(std::string_view name, NameContext = NameContext::Any) const;
    /// The same for names that belong together: if some of them are fp8 for certain, all are read in that context.
    [[nodiscard]] std::vector<KernelClass> classify(std::span<const std::string_view> names) const;
    /// A framework's CPU operator with its operand types as the profiler spells them.
    [[nodiscard]] OpClass classifyOp(std::string_view op, std::string_view types) const;

    [[nodiscard]] std::span<const KernelRule> rules() const;
    /// All rules that take the name, in order: the first decides.
    [[nodiscard]] std::vector<std::size_t> matchingRules(std::string_view name, NameContext) const;

private:
    struct Compiled;
    std::unique_ptr<const Compiled> m_compiled;
};

/// Whether a kernel of this class is proof that fp8 is in use.
[[nodiscard]] bool provesFp8(const KernelClass&);

}  // namespace fp8scope::analysis
