// SPDX-License-Identifier: Apache-2.0
// Configuration from and to TOML. Every error names file, line and key; the table of keys decides what is right.
#include "collector/trace/error.h"
#include "engine/plan/config_keys.h"
#include "engine/plan/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>

namespace fp8scope::plan {
namespace {

/// One key of the file, with its place.
struct Entry {
    std::string key;
    const toml::node* node = nullptr;
    std::uint32_t line = 0, column = 0;
};

std::string lastSection(std::string_view key) { return std::string(key.substr(0, key.rfind('.') + 1)); }

[[noreturn]] void refuseUnknownKey(std::string_view key, const std::string& where)
{
    std::vector<std::string> keys;
    for (const KeyBinding& binding : keyBindings())
        keys.push_back(binding.doc.key);
    const auto near = nearest(key, keys);
    throw Error(fmt::format("unknown key '{}'", key), where,
                near ? fmt::format("did you mean '{}'?", *near)
                     : fmt::format("the keys are {}", fmt::join(keys, ", ")));
}

std::set<std::string> sections()
{
    std::set<std::string> names;
    for (const KeyBinding& binding : keyBindings()) {
        if (const std::size_t dot = binding.doc.key.find('.'); dot != std::string::npos)
            names.insert(binding.doc.key.substr(0, dot));
    }
    return names;
}

[[noreturn]] void refuseUnknownSection(const std::string& name, const std::string& where)
{
    const std::set<std::string> known = sections();
    const std::vector<std::string> names(known.begin(), known.end());
    const auto near = nearest(name, names);
    throw Error(fmt::format("unknown section '[{}]'", name), where,
                near ? fmt::format("did you mean '[{}]'?", *near)
                     : fmt::format("the sections are [{}]", fmt::join(names, "], [")));
}

/// The keys of a table in file order (toml++ sorts them by name), so that the first mistake is the one reported.
std::vector<Entry> flatten(const toml::table& table, const std::string& prefix, std::string_view source)
{
    std::vector<Entry> entries;
    for (const auto& [key, node] : table) {
        const toml::source_position at = key.source().begin;
        const std::string name = prefix + std::string(key.str());
        if (!node.is_table()) {
            entries.push_back({name, &node, at.line, at.column});
            continue;
        }
        const std::string where = fmt::format("{}:{}", source, at.line);
        if (findKey(name) != nullptr)
            throw Error(fmt::format("key '{}' must be {}, is a section", name, describe(findKey(name)->type)), where,
                        "");
        if (!prefix.empty() || !sections().contains(name))
            refuseUnknownSection(name, where);
        const std::vector<Entry> inner = flatten(*node.as_table(), name + '.', source);
        entries.insert(entries.end(), inner.begin(), inner.end());
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); });
    return entries;
}

template <typename Item>
std::optional<SettingValue> listOf(const toml::node& node)
{
    const toml::array* array = node.as_array();
    if (array == nullptr)
        return {};
    std::vector<Item> items;
    for (const toml::node& item : *array) {
        const auto value = item.value_exact<Item>();
        if (!value)
            return {};
        items.push_back(*value);
    }
    return SettingValue(std::move(items));
}

template <typename Item>
std::optional<SettingValue> scalarOf(const toml::node& node)
{
    const auto value = node.value_exact<Item>();
    return value ? std::optional<SettingValue>(*value) : std::nullopt;
}

/// The node's value as the key's type, or nullopt where it is of another. An integer is a number, too.
std::optional<SettingValue> valueOf(const toml::node& node, ValueType type)
{
    switch (type) {
    case ValueType::Boolean: return scalarOf<bool>(node);
    case ValueType::Integer: return scalarOf<std::int64_t>(node);
    case ValueType::Number:
        if (const auto integer = node.value_exact<std::int64_t>())
            return SettingValue(static_cast<double>(*integer));
        return scalarOf<double>(node);
    case ValueType::Text: return scalarOf<std::string>(node);
    case ValueType::IntegerList: return listOf<std::int64_t>(node);
    case ValueType::TextList: return listOf<std::string>(node);
    }
    return {};
}

std::string_view typeWord(const toml::node& node)
{
    switch (node.type()) {
    case toml::node_type::string: return "text";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a number with a fraction";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::array: return "a list of something else";
    case toml::node_type::table: return "a section";
    default: return "a date or time";
    }
}

void setFromNode(MlpConfig& config, const KeyBinding& binding, const toml::node& node, const std::string& where)
{
    const auto value = valueOf(node, binding.type);
    if (!value)
        throw Error(fmt::format("key '{}' must be {}, is {}", binding.doc.key, describe(binding.type), typeWord(node)),
                    where, "");
    if (const BrokenRule broken = binding.set(config, *value))
        throw Error(fmt::format("key '{}' {}", binding.doc.key, *broken), where, "");
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// A value as typed after `--set key=`: TOML, or bare text, or a list without its brackets and quotes.
std::string asToml(std::string_view value, ValueType type)
{
    const auto quoteBare = [](std::string_view word) {
        return word.starts_with('"') || word.starts_with('\'') ? std::string(word) : quoted(word);
    };
    if (type == ValueType::Text)
        return quoteBare(value);
    const bool list = type == ValueType::IntegerList || type == ValueType::TextList;
    if (!list || value.starts_with('['))
        return std::string(value);
    std::string items;
    for (std::size_t begin = 0; begin <= value.size();) {
        const std::size_t end = std::min(value.find(',', begin), value.size());
        const std::string_view item = trimmed(value.substr(begin, end - begin));
        items += (type == ValueType::TextList ? quoteBare(item) : std::string(item)) + ", ";
        begin = end + 1;
    }
    return fmt::format("[{}]", items);
}

/// Line of a key in the file, for errors found after reading.
std::string placeOf(const std::vector<Entry>& entries, std::string_view key, std::string_view source)
{
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == entries.end() ? std::string(source) : fmt::format("{}:{}", source, found->line);
}

void checkRelations(const MlpConfig& config, const std::vector<Entry>& entries, std::string_view source)
{
    if (const auto broken = brokenRelation(config))
        throw Error(fmt::format("key '{}' {}", broken->key, broken->rule), placeOf(entries, broken->key, source), "");
    for (const std::string& mode : config.modes) {
        try {
            static_cast<void>(settingsFor(config, mode));
        } catch (const Error& illegal) {
            throw Error(illegal.problem(), placeOf(entries, illegal.where(), source), illegal.mend());
        }
    }
}

}  // namespace

MlpConfig parseConfig(std::string_view text, std::string_view source)
{
    toml::table table;
    try {
        table = toml::parse(text, source);
    } catch (const toml::parse_error& error) {
        throw Error(fmt::format("not valid TOML: {}", error.description()),
                    fmt::format("{}:{}", source, error.source().begin.line), "");
    }
    MlpConfig config;
    const std::vector<Entry> entries = flatten(table, "", source);
    for (const Entry& entry : entries) {
        const std::string where = fmt::format("{}:{}", source, entry.line);
        const KeyBinding* binding = findKey(entry.key);
        if (binding == nullptr)
            refuseUnknownKey(entry.key, where);
        setFromNode(config, *binding, *entry.node, where);
    }
    checkRelations(config, entries, source);
    return config;
}

void applySetting(MlpConfig& config, std::string_view key, std::string_view value, std::string_view source)
{
    const KeyBinding* binding = findKey(key);
    const std::string where(source);
    if (binding == nullptr)
        refuseUnknownKey(key, where);
    toml::table table;
    try {
        table = toml::parse("value = " + asToml(value, binding->type));
    } catch (const toml::parse_error&) {
        throw Error(fmt::format("key '{}' must be {}, is '{}'", key, describe(binding->type), value), where, "");
    }
    if (table.size() != 1)
        throw Error(fmt::format("key '{}' must be one value, is '{}'", key, value), where, "");
    setFromNode(config, *binding, table.begin()->second, where);
}

std::string toToml(const MlpConfig& config)
{
    std::string text, section;
    for (const KeyBinding& binding : keyBindings()) {
        const std::string value = binding.toml(config);
        if (value.empty())
            continue;
        const std::string prefix = lastSection(binding.doc.key);
        if (prefix != section) {
            text += fmt::format("\n[{}]\n", prefix.substr(0, prefix.size() - 1));
            section = prefix;
        }
        text += fmt::format("{} = {}\n", binding.doc.key.substr(prefix.size()), value);
    }
    return text;
}

}  // namespace fp8scope::plan
