// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/kernel_rules.h"

#include "app/analysis/classify/embedded_rules.h"
#include "collector/trace/error.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <set>

namespace fp8scope::analysis {
namespace {

constexpr std::array<std::string_view, 12> kRuleKeys{"id",        "function",     "words",   "pattern",
                                                     "unless",    "unless_words", "role",    "fused",
                                                     "precision", "library",      "grammar", "needs"};
constexpr std::array<std::string_view, 5> kOpKeys{"id", "name", "types", "role", "fused"};
constexpr std::array<std::string_view, 4> kGrammars{"", "nvjet", "inductor", "gemm"};

/// One table of the file, read with errors that name the line.
class Entry {
public:
    Entry(const toml::table& table, const std::string& file) : m_table(table), m_file(file) {}

    [[nodiscard]] std::uint32_t line() const { return lineOf(m_table); }

    [[noreturn]] void fail(const toml::node& node, std::string what, std::string mend) const
    {
        throw Error(std::move(what), fmt::format("{}:{}", m_file, lineOf(node)), std::move(mend));
    }
    [[noreturn]] void fail(std::string what, std::string mend) const
    {
        fail(m_table, std::move(what), std::move(mend));
    }

    template <std::size_t N>
    void allowOnly(const std::array<std::string_view, N>& keys) const
    {
        for (const auto& [key, value] : m_table) {
            if (std::find(keys.begin(), keys.end(), std::string_view(key)) == keys.end())
                fail(value, fmt::format("'{}' is no key of a rule", std::string_view(key)),
                     fmt::format("keys are {}", fmt::join(keys, ", ")));
        }
    }

    [[nodiscard]] std::string text(std::string_view key) const
    {
        const toml::node* node = m_table.get(key);
        if (node == nullptr)
            return {};
        if (!node->is_string())
            fail(*node, fmt::format("'{}' is no text", key), "put it in quotes");
        return node->as_string()->get();
    }

    [[nodiscard]] std::string expression(std::string_view key) const
    {
        std::string pattern = text(key);
        if (pattern.empty())
            return pattern;
        const RE2 compiled(pattern, RE2::Quiet);
        if (!compiled.ok())
            fail(*m_table.get(key), fmt::format("'{}' is no regular expression: {}", pattern, compiled.error()),
                 "RE2's syntax has no look-around and no back references");
        return pattern;
    }

    [[nodiscard]] Role role(const toml::node& node) const
    {
        const auto word = node.value<std::string>();
        const std::optional<Role> role = word ? roleFromString(*word) : std::nullopt;
        if (role)
            return *role;
        std::string roles;
        for (int r = 0; r < kRoleCount; ++r)
            roles += fmt::format("{}{}", r == 0 ? "" : ", ", toString(static_cast<Role>(r)));
        fail(node, fmt::format("'{}' is no role", word.value_or("?")), "roles are " + roles);
    }

    [[nodiscard]] Role role() const
    {
        const toml::node* node = m_table.get("role");
        if (node == nullptr)
            fail("the rule has no role", "add role = \"...\"");
        return role(*node);
    }

    [[nodiscard]] RoleSet fused() const
    {
        RoleSet roles;
        const toml::node* node = m_table.get("fused");
        if (node == nullptr)
            return roles;
        if (!node->is_array())
            fail(*node, "'fused' is no list of roles", "write fused = [\"bias\"]");
        for (const toml::node& item : *node->as_array())
            roles.insert(role(item));
        return roles;
    }

    [[nodiscard]] std::optional<Precision> precision() const
    {
        const std::string word = text("precision");
        if (word.empty())
            return std::nullopt;
        const std::optional<Precision> precision = precisionFromString(word);
        if (!precision)
            fail(*m_table.get("precision"), fmt::format("'{}' is no precision", word),
                 "precisions are fp8, bf16, fp16, fp32, fp64, int8, fp4, mixed, unknown");
        return precision;
    }

    [[nodiscard]] NameGrammar grammar() const
    {
        const std::string word = text("grammar");
        const auto* const found = std::find(kGrammars.begin(), kGrammars.end(), word);
        if (found == kGrammars.end())
            fail(*m_table.get("grammar"), fmt::format("'{}' is no grammar", word),
                 "grammars are nvjet, inductor, gemm");
        return static_cast<NameGrammar>(found - kGrammars.begin());
    }

    [[nodiscard]] bool needsFp8() const
    {
        const std::string word = text("needs");
        if (!word.empty() && word != "fp8")
            fail(*m_table.get("needs"), fmt::format("a rule cannot need '{}'", word), "write needs = \"fp8\"");
        return !word.empty();
    }

private:
    static std::uint32_t lineOf(const toml::node& node) { return static_cast<std::uint32_t>(node.source().begin.line); }

    const toml::table& m_table;
    const std::string& m_file;
};

KernelRule kernelRule(const Entry& entry, const std::string& file)
{
    entry.allowOnly(kRuleKeys);
    KernelRule rule;
    rule.id = entry.text("id");
    rule.function = entry.expression("function");
    rule.pattern = entry.expression("pattern");
    rule.words = entry.expression("words");
    rule.unless = entry.expression("unless");
    rule.unlessWords = entry.expression("unless_words");
    rule.grammar = entry.grammar();
    const bool grammarTellsRole = rule.grammar == NameGrammar::Inductor;
    rule.role = grammarTellsRole ? Role::Other : entry.role();
    rule.fused = entry.fused();
    rule.precision = entry.precision();
    rule.library = entry.text("library");
    rule.needsFp8 = entry.needsFp8();
    rule.file = file;
    rule.line = entry.line();
    if (rule.function.empty() && rule.pattern.empty() && rule.words.empty())
        entry.fail("the rule would take every kernel", "add function =, words = or pattern =");
    return rule;
}

OpRule opRule(const Entry& entry, const std::string& file)
{
    entry.allowOnly(kOpKeys);
    OpRule rule{.id = entry.text("id"),
                .name = entry.expression("name"),
                .types = entry.expression("types"),
                .role = entry.role(),
                .fused = entry.fused(),
                .file = file,
                .line = entry.line()};
    if (rule.name.empty())
        entry.fail("the rule names no op", "add name = \"aten::...\"");
    return rule;
}

template <typename Rule, typename Read>
std::vector<Rule> readAll(const toml::table& document, std::string_view key, const std::string& file,
                          std::set<std::string>& ids, Read&& read)
{
    std::vector<Rule> rules;
    const toml::node* node = document.get(key);
    if (node == nullptr)
        return rules;
    if (!node->is_array_of_tables())
        throw Error(fmt::format("'{}' is no list of rules", key), fmt::format("{}:{}", file, node->source().begin.line),
                    fmt::format("begin each with [[{}]]", key));
    for (const toml::node& item : *node->as_array()) {
        const Entry entry(*item.as_table(), file);
        Rule rule = read(entry, file);
        if (rule.id.empty())
            entry.fail("the rule has no id", "add id = \"...\": results name the rule that decided");
        if (!ids.insert(rule.id).second)
            entry.fail(fmt::format("the id '{}' is used twice", rule.id), "give each rule its own");
        rules.push_back(std::move(rule));
    }
    return rules;
}

}  // namespace

RuleFile parseRules(std::string_view text, const std::string& file)
{
    toml::table document;
    try {
        document = toml::parse(text, file);
    } catch (const toml::parse_error& error) {
        throw Error(std::string(error.description()), fmt::format("{}:{}", file, error.source().begin.line),
                    "rules are TOML: [[rule]], then key = \"value\" lines");
    }
    for (const auto& [key, value] : document) {
        if (std::string_view(key) != "rule" && std::string_view(key) != "op")
            throw Error(fmt::format("'{}' is neither [[rule]] nor [[op]]", std::string_view(key)),
                        fmt::format("{}:{}", file, value.source().begin.line), "remove it");
    }
    std::set<std::string> ids;
    RuleFile rules;
    rules.rules = readAll<KernelRule>(document, "rule", file, ids, kernelRule);
    rules.ops = readAll<OpRule>(document, "op", file, ids, opRule);
    return rules;
}

std::string_view builtInRules() { return kEmbeddedRules; }

}  // namespace fp8scope::analysis
