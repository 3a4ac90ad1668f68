// SPDX-License-Identifier: Apache-2.0
// The one table of configuration keys: it drives reading, `--set`, writing, help and "did you mean". Internal to
// engine/plan.
#pragma once

#include "engine/plan/config.h"

#include <functional>
#include <optional>
#include <variant>

namespace fp8scope::plan {

enum class ValueType : std::uint8_t { Boolean, Integer, Number, Text, IntegerList, TextList };

/// A value of the type that its key asks for.
using SettingValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<std::string>>;

/// What is wrong with a value ("must be from 1 to 8, is 9"), or nullopt.
using BrokenRule = std::optional<std::string>;

struct KeyBinding {
    ConfigKey doc;
    ValueType type = ValueType::Text;
    /// Stores a value of `type`, unless it breaks the key's rule.
    std::function<BrokenRule(MlpConfig&, const SettingValue&)> set;
    /// The key's value as TOML; empty where the configuration does not set it (fusion switches left to the mode).
    std::function<std::string(const MlpConfig&)> toml;
};

[[nodiscard]] const std::vector<KeyBinding>& keyBindings();
/// The parts of that table that say how a step is made: micro-batches, recomputation; and which layers are fp8.
[[nodiscard]] std::vector<KeyBinding> structureKeys();
[[nodiscard]] std::vector<KeyBinding> filterKeys();
[[nodiscard]] std::vector<KeyBinding> numericsKeys();
[[nodiscard]] const KeyBinding* findKey(std::string_view key);
[[nodiscard]] std::string_view describe(ValueType);  ///< "an integer", "a list of integers"
[[nodiscard]] std::string quoted(std::string_view);  ///< as a TOML string
[[nodiscard]] std::string tomlNumber(double);        ///< the shortest text that reads back as the same double
[[nodiscard]] const std::vector<std::string>& modeNames();
/// Rules between keys ("softmax_cross_entropy needs ..."): the key to blame and the rule, or nullopt.
struct BrokenRelation {
    std::string key, rule;
};
[[nodiscard]] std::optional<BrokenRelation> brokenRelation(const MlpConfig&);

}  // namespace fp8scope::plan
