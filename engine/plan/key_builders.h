// SPDX-License-Identifier: Apache-2.0
// Makers of key bindings by type of value. Internal to engine/plan.
#pragma once

#include "engine/plan/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace fp8scope::plan {

/// Beyond any layer; keeps every product of two in 64 bits.
inline constexpr std::int64_t kLargestDimension = std::int64_t{1} << 20;

/// `access` gives the member of a (const or plain) MlpConfig that the key stands for.
template <typename Access>
KeyBinding integerKey(std::string key, std::int64_t low, std::int64_t high, std::string meaning, Access access)
{
    const MlpConfig defaults;
    KeyBinding binding;
    binding.doc = {std::move(key), "integer", fmt::format("{} to {}", low, high), fmt::format("{}", access(defaults)),
                   std::move(meaning)};
    binding.type = ValueType::Integer;
    binding.set = [=](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        const auto number = std::get<std::int64_t>(value);
        if (number < low || number > high)
            return fmt::format("must be from {} to {}, is {}", low, high, number);
        access(config) = static_cast<std::remove_reference_t<decltype(access(config))>>(number);
        return {};
    };
    binding.toml = [=](const MlpConfig& config) { return fmt::format("{}", access(config)); };
    return binding;
}

struct NumberRange {
    double low = 0, high = 1;
    bool lowIncluded = true;

    [[nodiscard]] bool contains(double v) const
    {
        return std::isfinite(v) && (lowIncluded ? v >= low : v > low) && (lowIncluded ? v < high : v <= high);
    }
    [[nodiscard]] std::string text() const
    {
        return lowIncluded ? fmt::format("{} to below {}", low, high) : fmt::format("above {}, at most {}", low, high);
    }
};

template <typename Access>
KeyBinding numberKey(std::string key, NumberRange range, std::string meaning, Access access)
{
    const MlpConfig defaults;
    KeyBinding binding;
    binding.doc = {std::move(key), "number", range.text(), tomlNumber(access(defaults)), std::move(meaning)};
    binding.type = ValueType::Number;
    binding.set = [=](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        const double number = std::get<double>(value);
        if (!range.contains(number))
            return fmt::format("must be {}, is {}", range.text(), number);
        access(config) = number;
        return {};
    };
    binding.toml = [=](const MlpConfig& config) { return tomlNumber(access(config)); };
    return binding;
}

/// A key whose value is one of an enum's words.
template <typename Enum, typename Access>
KeyBinding wordKey(std::string key, std::vector<Enum> values, std::string meaning, Access access)
{
    const MlpConfig defaults;
    std::vector<std::string_view> words;
    std::transform(values.begin(), values.end(), std::back_inserter(words), [](Enum v) { return toString(v); });
    const std::string range = fmt::format("{}", fmt::join(words, ", "));
    KeyBinding binding;
    binding.doc = {std::move(key), "text", range, quoted(toString(access(defaults))), std::move(meaning)};
    binding.type = ValueType::Text;
    binding.set = [=](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        const auto& word = std::get<std::string>(value);
        const auto found = std::find(words.begin(), words.end(), word);
        if (found == words.end())
            return fmt::format("must be one of {}, is '{}'", range, word);
        access(config) = values[static_cast<std::size_t>(found - words.begin())];
        return {};
    };
    binding.toml = [=](const MlpConfig& config) { return quoted(toString(access(config))); };
    return binding;
}

template <typename Access>
KeyBinding booleanKey(std::string key, std::string meaning, Access access)
{
    const MlpConfig defaults;
    const auto word = [](bool on) -> std::string { return on ? "true" : "false"; };
    KeyBinding binding;
    binding.doc = {std::move(key), "boolean", "true, false", word(access(defaults)), std::move(meaning)};
    binding.type = ValueType::Boolean;
    binding.set = [=](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        access(config) = std::get<bool>(value);
        return {};
    };
    binding.toml = [=](const MlpConfig& config) { return word(access(config)); };
    return binding;
}

inline std::string tomlList(const std::vector<std::string>& words)
{
    std::vector<std::string> items;
    std::transform(words.begin(), words.end(), std::back_inserter(items), quoted);
    return fmt::format("[{}]", fmt::join(items, ", "));
}

}  // namespace fp8scope::plan
