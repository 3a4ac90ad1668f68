// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/kernel_classifier.h"

#include "app/analysis/classify/inductor_name.h"
#include "app/analysis/classify/kernel_name.h"
#include "app/analysis/classify/nvjet_name.h"
#include "collector/trace/error.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <optional>

namespace fp8scope::analysis {
namespace {

constexpr std::int64_t kSetMemory = 64LL << 20;

/// Expressions tried all at once; tells which of them a text holds.
class ExpressionSet {
public:
    void add(const std::string& expression, std::uint32_t rule)
    {
        if (m_set.Add(expression, nullptr) >= 0)
            m_rules.push_back(rule);
    }
    void compile() { m_compiled = m_rules.empty() || m_set.Compile(); }

    /// Adds the rules whose expression is in the text. Where the set's automaton outgrows its memory, all are
    /// candidates.
    void match(std::string_view text, std::vector<std::uint32_t>& found) const
    {
        if (m_rules.empty())
            return;
        std::vector<int> matches;
        RE2::Set::ErrorInfo error{RE2::Set::kNoError};
        if (m_compiled && m_set.Match({text.data(), text.size()}, &matches, &error)) {
            for (const int index : matches)
                found.push_back(m_rules[static_cast<std::size_t>(index)]);
        } else if (!m_compiled || error.kind != RE2::Set::kNoError) {
            found.insert(found.end(), m_rules.begin(), m_rules.end());
        }
    }

private:
    static RE2::Options options()
    {
        RE2::Options options(RE2::Quiet);
        options.set_max_mem(kSetMemory);
        return options;
    }
    RE2::Set m_set{options(), RE2::UNANCHORED};
    std::vector<std::uint32_t> m_rules;
    bool m_compiled = false;
};

std::unique_ptr<RE2> compile(const std::string& expression)
{
    return expression.empty() ? nullptr : std::make_unique<RE2>(expression, RE2::Quiet);
}

bool holds(const std::unique_ptr<RE2>& expression, std::string_view text)
{
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression);
}

struct CompiledRule {
    std::unique_ptr<RE2> function, words, pattern, unless, unlessWords;
};

struct CompiledOp {
    OpRule rule;
    std::unique_ptr<RE2> name, types;
};

}  // namespace

struct KernelClassifier::Compiled {
    std::vector<KernelRule> rules;
    std::vector<CompiledRule> compiled;  ///< of `rules`, by index
    std::vector<CompiledOp> ops;
    ExpressionSet byFunction;  ///< rules with `function`
    ExpressionSet byWords;     ///< rules with `words` and no `function`
    ExpressionSet byPattern;   ///< rules with `pattern` only

    /// Rules that take the name, in order, until `stop` says so.
    template <typename Stop>
    void forEachMatch(const KernelName& name, NameContext context, Stop&& stop) const;
};

template <typename Stop>
void KernelClassifier::Compiled::forEachMatch(const KernelName& name, NameContext context, Stop&& stop) const
{
    std::vector<std::uint32_t> candidates;
    byFunction.match(name.function(), candidates);
    byWords.match(name.words(), candidates);
    byPattern.match(name.text(), candidates);
    std::sort(candidates.begin(), candidates.end());
    for (const std::uint32_t index : candidates) {
        const CompiledRule& r = compiled[index];
        const bool takes =
            (!rules[index].needsFp8 || context == NameContext::Fp8) &&
            (!r.function || holds(r.function, name.function())) && (!r.words || holds(r.words, name.words())) &&
            (!r.pattern || holds(r.pattern, name.text())) && (!r.unless || !holds(r.unless, name.text())) &&
            (!r.unlessWords || !holds(r.unlessWords, name.words()));
        if (takes && stop(index))
            return;
    }
}

namespace {

bool isQuantization(Role role) { return familyOf(role, Precision::Unknown) == Family::Quantization; }

KernelClass nvjetClass(const KernelName& name, KernelClass result)
{
    const std::optional<NvjetName> nvjet = parseNvjetName(name.text());
    if (!nvjet)
        return result;
    result.types = nvjet->types;
    result.precision = precisionOf(nvjet->types);
    result.fused = RoleSet(result.fused.bits() | nvjet->epilogue.bits());
    return result;
}

/// nullopt where the name is of another grammar: the next rule is asked.
std::optional<KernelClass> inductorClass(const KernelName& name, KernelClass result)
{
    const std::optional<InductorName> fused = parseInductorName(name.text());
    if (!fused)
        return std::nullopt;
    const InductorWork work = workOf(*fused);
    result.role = work.role;
    result.fused = work.fused;
    if (work.quantizes)
        result.precision = Precision::Fp8;
    else if (work.role == Role::Gemm && fused->ops.contains("_scaled_mm"))
        result.precision = Precision::Fp8;
    return result;
}

std::optional<KernelClass> classOf(const KernelName& name, const KernelRule& rule)
{
    KernelClass result{.role = rule.role,
                       .fused = rule.fused,
                       .precision = Precision::Unknown,
                       .types = {},
                       .library = rule.library,
                       .rule = rule.id};
    switch (rule.grammar) {
    case NameGrammar::Nvjet: result = nvjetClass(name, result); break;
    case NameGrammar::Inductor: {
        const std::optional<KernelClass> fused = inductorClass(name, result);
        if (!fused)
            return std::nullopt;
        result = *fused;
        break;
    }
    case NameGrammar::Gemm:
        result.types = gemmTypes(name);
        result.precision = precisionOf(result.types);
        break;
    case NameGrammar::None: result.precision = elementPrecision(name); break;
    }
    if (rule.precision)
        result.precision = *rule.precision;
    return result;
}

}  // namespace

KernelClassifier::KernelClassifier(std::span<const RuleFile> files)
{
    auto compiled = std::make_unique<Compiled>();
    for (const RuleFile& file : files) {
        for (const KernelRule& rule : file.rules) {
            const auto index = static_cast<std::uint32_t>(compiled->rules.size());
            if (!rule.function.empty())
                compiled->byFunction.add(rule.function, index);
            else if (!rule.words.empty())
                compiled->byWords.add(rule.words, index);
            else
                compiled->byPattern.add(rule.pattern, index);
            compiled->compiled.push_back({compile(rule.function), compile(rule.words), compile(rule.pattern),
                                          compile(rule.unless), compile(rule.unlessWords)});
            compiled->rules.push_back(rule);
        }
        for (const OpRule& rule : file.ops)
            compiled->ops.push_back({rule, compile(rule.name), compile(rule.types)});
    }
    compiled->byFunction.compile();
    compiled->byWords.compile();
    compiled->byPattern.compile();
    m_compiled = std::move(compiled);
}

KernelClassifier::KernelClassifier(KernelClassifier&&) noexcept = default;
KernelClassifier& KernelClassifier::operator=(KernelClassifier&&) noexcept = default;
KernelClassifier::~KernelClassifier() = default;

KernelClassifier KernelClassifier::builtIn()
{
    const RuleFile file = parseRules(builtInRules(), "kernel_rules.toml");
    return KernelClassifier(std::span(&file, 1));
}

KernelClass KernelClassifier::classify(std::string_view text, NameContext context) const
{
    const KernelName name(text);
    KernelClass result;
    m_compiled->forEachMatch(name, context, [&](std::uint32_t index) {
        const std::optional<KernelClass> found = classOf(name, m_compiled->rules[index]);
        if (found)
            result = *found;
        return found.has_value();
    });
    return result;
}

std::vector<KernelClass> KernelClassifier::classify(std::span<const std::string_view> names) const
{
    std::vector<KernelClass> classes;
    classes.reserve(names.size());
    for (const std::string_view name : names)
        classes.push_back(classify(name));
    if (std::none_of(classes.begin(), classes.end(), provesFp8))
        return classes;
    for (std::size_t i = 0; i < names.size(); ++i)
        classes[i] = classify(names[i], NameContext::Fp8);
    return classes;
}

OpClass KernelClassifier::classifyOp(std::string_view op, std::string_view types) const
{
    for (const CompiledOp& rule : m_compiled->ops) {
        const bool takes =
            RE2::FullMatch({op.data(), op.size()}, *rule.name) && (!rule.types || holds(rule.types, types));
        if (takes)
            return {rule.rule.role, rule.rule.fused, rule.rule.id};
    }
    return {};
}

std::span<const KernelRule> KernelClassifier::rules() const { return m_compiled->rules; }

std::vector<std::size_t> KernelClassifier::matchingRules(std::string_view text, NameContext context) const
{
    std::vector<std::size_t> matches;
    m_compiled->forEachMatch(KernelName(text), context, [&](std::uint32_t index) {
        matches.push_back(index);
        return false;
    });
    return matches;
}

bool provesFp8(const KernelClass& c)
{
    return c.precision == Precision::Fp8 && (c.role == Role::Gemm || isQuantization(c.role));
}

}  // namespace fp8scope::analysis
