// SPDX-License-Identifier: Apache-2.0
// The classifier's rules as a TOML file writes them (resources/kernel_rules.toml; a user's own comes before it).
#pragma once

#include "collector/trace/words.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

/// Names whose grammar says more than a pattern can.
enum class NameGrammar : std::uint8_t { None, Nvjet, Inductor, Gemm };

/// One [[rule]]: a kernel that all its expressions take is what it says. The first rule that takes a kernel decides.
struct KernelRule {
    std::string id;
    std::string function;     ///< RE2, found in KernelName::function(); empty: any
    std::string pattern;      ///< RE2, found in KernelName::text(); empty: any
    std::string words;        ///< RE2, found in KernelName::words(); empty: any
    std::string unless;       ///< RE2, not found in KernelName::text(); empty: none
    std::string unlessWords;  ///< RE2, not found in KernelName::words(); empty: none
    Role role = Role::Other;
    RoleSet fused{};
    std::optional<Precision> precision;  ///< nullopt: read off the types in the name
    std::string library;
    NameGrammar grammar = NameGrammar::None;
    bool needsFp8 = false;  ///< takes a kernel only beside others that are fp8 for certain: max() is then the amax
    std::string file;       ///< where it stands
    std::uint32_t line = 0;
};

/// One [[op]]: what a framework's CPU operator does on the GPU.
struct OpRule {
    std::string id;
    std::string name;   ///< RE2, the whole name of the op
    std::string types;  ///< RE2, found in the operand types ("float8_e4m3fn, bfloat16"); empty: any
    Role role = Role::Other;
    RoleSet fused{};
    std::string file;
    std::uint32_t line = 0;
};

struct RuleFile {
    std::vector<KernelRule> rules;
    std::vector<OpRule> ops;
};

/// `file` names the text in errors. Throws Error with file and line for what is no TOML, an unknown key, a word that is
/// no role, an expression that is no RE2, a missing or repeated id, or a rule that would take every name.
[[nodiscard]] RuleFile parseRules(std::string_view toml, const std::string& file);

/// resources/kernel_rules.toml, built in.
[[nodiscard]] std::string_view builtInRules();

}  // namespace fp8scope::analysis
