// SPDX-License-Identifier: Apache-2.0
// A recipe's keys are optional: each recipe has its own defaults and uses some of them. Written TOML holds those that
// the recipe uses; a set one that it does not use is refused, for it would do nothing.
#include "engine/plan/recipe_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

namespace fp8scope::plan {
namespace {

using enum RecipeKind;

constexpr std::array kAllKinds{Tensorwise, Delayed, Rowwise, RowwiseWithGwHp, Blockwise, Mxfp8};

using Kinds = std::vector<RecipeKind>;

std::string namesOf(const Kinds& kinds)
{
    std::string text;
    for (const RecipeKind kind : kinds)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", toString(kind));
    return text;
}

/// What a key needs besides its documentation: the recipes that use it, and how its value reads and prints.
template <typename T>
struct Optional {
    std::string name, type, range, meaning;
    ValueType valueType = ValueType::Text;
    Kinds usedBy;
    std::optional<T> RecipeConfig::*set;
    T Recipe::*value;
    std::function<std::optional<T>(const SettingValue&)> read;  ///< nullopt: not in the range
    std::function<std::string(const T&)> print;
};

struct RecipeKey {
    KeyBinding binding;
    Kinds usedBy;
    std::function<bool(const RecipeConfig&)> isSet;
};

/// A refused value of the types that recipe keys have.
std::string printed(const SettingValue& value)
{
    if (const auto* text = std::get_if<std::string>(&value))
        return fmt::format("'{}'", *text);
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return std::to_string(*integer);
    return fmt::format("{}", std::get<double>(value));
}

template <typename T>
RecipeKey makeKey(const Optional<T>& key)
{
    RecipeKey made;
    const bool all = key.usedBy.size() == kAllKinds.size();
    made.usedBy = key.usedBy;
    made.isSet = [set = key.set](const RecipeConfig& recipe) { return (recipe.*set).has_value(); };
    made.binding.doc = {"recipe." + key.name, key.type, key.range, "by recipe",
                        all ? key.meaning : fmt::format("{}: {}", namesOf(key.usedBy), key.meaning)};
    made.binding.type = key.valueType;
    made.binding.set = [key](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        const std::optional<T> read = key.read(value);
        if (!read)
            return fmt::format("must be {}{}, is {}", key.valueType == ValueType::Text ? "one of " : "from ", key.range,
                               printed(value));
        config.recipe.*key.set = *read;
        return {};
    };
    made.binding.toml = [key](const MlpConfig& config) -> std::string {
        if (const auto& mine = config.recipe.*key.set)
            return key.print(*mine);
        const bool used = std::find(key.usedBy.begin(), key.usedBy.end(), config.recipe.kind) != key.usedBy.end();
        return used ? key.print(resolved(config.recipe).*key.value) : std::string();
    };
    return made;
}

template <typename T>
auto wordReader(std::initializer_list<T> values)
{
    return [all = std::vector<T>(values)](const SettingValue& value) -> std::optional<T> {
        for (const T candidate : all)
            if (toString(candidate) == std::get<std::string>(value))
                return candidate;
        return {};
    };
}
template <typename T>
std::string printWord(const T& value)
{
    return quoted(toString(value));
}

RecipeKey formatKey(std::string name, std::optional<DType> RecipeConfig::*set, DType Recipe::*value,
                    std::string meaning)
{
    return makeKey<DType>({.name = std::move(name),
                           .type = "text",
                           .range = "e4m3, e5m2",
                           .meaning = std::move(meaning),
                           .valueType = ValueType::Text,
                           .usedBy = Kinds(kAllKinds.begin(), kAllKinds.end()),
                           .set = set,
                           .value = value,
                           .read = wordReader({DType::E4m3, DType::E5m2}),
                           .print = printWord<DType>});
}

RecipeKey integerKey(std::string name, int low, int high, std::optional<int> RecipeConfig::*set, int Recipe::*value,
                     std::string meaning)
{
    return makeKey<int>({.name = std::move(name),
                         .type = "integer",
                         .range = fmt::format("{} to {}", low, high),
                         .meaning = std::move(meaning),
                         .valueType = ValueType::Integer,
                         .usedBy = {Delayed},
                         .set = set,
                         .value = value,
                         .read = [=](const SettingValue& typed) -> std::optional<int> {
                             const auto number = std::get<std::int64_t>(typed);
                             return number < low || number > high ? std::nullopt
                                                                  : std::optional(static_cast<int>(number));
                         },
                         .print = [](const int& number) { return std::to_string(number); }});
}

RecipeKey powerOfTwoKey()
{
    return makeKey<bool>({.name = "power_of_two",
                          .type = "boolean",
                          .range = "true, false",
                          .meaning = "scales are rounded down to powers of two",
                          .valueType = ValueType::Boolean,
                          .usedBy = {Tensorwise, Rowwise, RowwiseWithGwHp, Blockwise},
                          .set = &RecipeConfig::powerOfTwo,
                          .value = &Recipe::powerOfTwo,
                          .read = [](const SettingValue& typed) { return std::optional(std::get<bool>(typed)); },
                          .print = [](const bool& on) { return std::string(on ? "true" : "false"); }});
}

RecipeKey minAmaxKey()
{
    return makeKey<double>({.name = "min_amax",
                            .type = "number",
                            .range = "0 to 1",
                            .meaning = "a smaller amax counts as this",
                            .valueType = ValueType::Number,
                            .usedBy = {Tensorwise, Rowwise, RowwiseWithGwHp, Blockwise},
                            .set = &RecipeConfig::minAmax,
                            .value = &Recipe::minAmax,
                            .read = [](const SettingValue& typed) -> std::optional<double> {
                                const double number = std::get<double>(typed);
                                return number >= 0 && number <= 1 ? std::optional(number) : std::nullopt;
                            },
                            .print = tomlNumber});
}

RecipeKey amaxAlgorithmKey()
{
    return makeKey<AmaxAlgorithm>({.name = "amax_algo",
                                   .type = "text",
                                   .range = "max, most_recent",
                                   .meaning = "which amax of the history decides the scale",
                                   .valueType = ValueType::Text,
                                   .usedBy = {Delayed},
                                   .set = &RecipeConfig::amaxAlgorithm,
                                   .value = &Recipe::amaxAlgorithm,
                                   .read = wordReader({AmaxAlgorithm::Max, AmaxAlgorithm::MostRecent}),
                                   .print = printWord<AmaxAlgorithm>});
}

RecipeKey roundingKey()
{
    return makeKey<E8m0Rounding>({.name = "e8m0_rounding",
                                  .type = "text",
                                  .range = "rceil, floor",
                                  .meaning = "how scales become powers of two: as cuBLAS (rceil) or OCP (floor)",
                                  .valueType = ValueType::Text,
                                  .usedBy = {Mxfp8},
                                  .set = &RecipeConfig::e8m0Rounding,
                                  .value = &Recipe::e8m0Rounding,
                                  .read = wordReader({E8m0Rounding::Rceil, E8m0Rounding::Floor}),
                                  .print = printWord<E8m0Rounding>});
}

const std::vector<RecipeKey>& keys()
{
    static const std::vector<RecipeKey> all{
        formatKey("input_format", &RecipeConfig::inputFormat, &Recipe::inputFormat,
                  "of the layers' inputs; only one of the three formats may be e5m2"),
        formatKey("weight_format", &RecipeConfig::weightFormat, &Recipe::weightFormat, "of the weights"),
        formatKey("gradient_format", &RecipeConfig::gradientFormat, &Recipe::gradientFormat,
                  "of the gradients of the layers' outputs"),
        powerOfTwoKey(),
        minAmaxKey(),
        integerKey("history_length", 1, 65'536, &RecipeConfig::historyLength, &Recipe::historyLength,
                   "steps whose amaxes decide the scale"),
        integerKey("margin", 0, 16, &RecipeConfig::margin, &Recipe::margin, "the scale is divided by 2^margin"),
        amaxAlgorithmKey(),
        roundingKey(),
    };
    return all;
}

/// cuBLASLt multiplies e4m3 with both formats, but never e5m2 with e5m2.
std::optional<BrokenRelation> brokenFormats(const RecipeConfig& config)
{
    const Recipe recipe = resolved(config);
    struct Format {
        const char* key;
        DType format;
        bool set;
    };
    const Format input{"recipe.input_format", recipe.inputFormat, config.inputFormat.has_value()};
    const Format weight{"recipe.weight_format", recipe.weightFormat, config.weightFormat.has_value()};
    const Format gradient{"recipe.gradient_format", recipe.gradientFormat, config.gradientFormat.has_value()};
    for (const auto& [a, b] : {std::pair(input, weight), std::pair(weight, gradient), std::pair(input, gradient)}) {
        if (a.format != DType::E5m2 || b.format != DType::E5m2)
            continue;
        const Format& blamed = a.set ? a : b;
        const Format& other = a.set ? b : a;
        return BrokenRelation{
            blamed.key, fmt::format("must be e4m3 while {} is e5m2: no GEMM multiplies e5m2 with e5m2", other.key)};
    }
    return {};
}

}  // namespace

std::vector<KeyBinding> recipeKeys()
{
    std::vector<KeyBinding> bindings;
    for (const RecipeKey& key : keys())
        bindings.push_back(key.binding);
    return bindings;
}

std::optional<BrokenRelation> brokenRecipe(const RecipeConfig& config)
{
    for (const RecipeKey& key : keys()) {
        const bool used = std::find(key.usedBy.begin(), key.usedBy.end(), config.kind) != key.usedBy.end();
        if (!used && key.isSet(config))
            return BrokenRelation{key.binding.doc.key, fmt::format("is not used by the recipe {}, only by {}",
                                                                   toString(config.kind), namesOf(key.usedBy))};
    }
    return brokenFormats(config);
}

}  // namespace fp8scope::plan
