// SPDX-License-Identifier: Apache-2.0
// Reads devices and their fitted constants from TOML. Every wrong key, type or value is named with its line.
#include "engine/predict/device.h"

#include "collector/trace/error.h"
#include "engine/plan/nearest.h"
#include "engine/predict/embedded_devices.h"
#include "engine/predict/tiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fp8scope::predict {
namespace {

/// A place in a file, for errors.
struct Place {
    std::string_view source;
    [[nodiscard]] std::string at(const toml::node& node) const
    {
        return fmt::format("{}:{}", source, node.source().begin.line);
    }
};

[[noreturn]] void refuseKey(std::string_view key, const std::vector<std::string>& known, const std::string& where)
{
    const auto near = plan::nearest(key, known);
    throw Error(fmt::format("unknown key '{}'", key), where,
                near ? fmt::format("did you mean '{}'?", *near) : fmt::format("keys are {}", fmt::join(known, ", ")));
}

double numberOf(const toml::node& node, std::string_view key, const Place& place)
{
    const auto value = node.value<double>();
    if (!value || !std::isfinite(*value) || *value < 0)
        throw Error(fmt::format("'{}' must be a number of 0 or more", key), place.at(node), "");
    return *value;
}

std::string textOf(const toml::node& node, std::string_view key, const Place& place)
{
    const auto value = node.value<std::string>();
    if (!value)
        throw Error(fmt::format("'{}' must be a text", key), place.at(node), "");
    return *value;
}

const toml::table& tableOf(const toml::node& node, std::string_view key, const Place& place)
{
    const toml::table* table = node.as_table();
    if (table == nullptr)
        throw Error(fmt::format("'{}' must be a table", key), place.at(node), "");
    return *table;
}

/// A number of a specification, and what one unit of it in the file is worth.
struct SpecKey {
    std::string_view key;
    double DeviceSpec::*member;
    double unit;
};
constexpr std::array kSpecKeys{
    SpecKey{"sms", &DeviceSpec::sms, 1},
    SpecKey{"boost_mhz", &DeviceSpec::boostMhz, 1},
    SpecKey{"bf16_tflops", &DeviceSpec::peak16, 1e12},
    SpecKey{"fp8_tflops", &DeviceSpec::peakFp8, 1e12},
    SpecKey{"mxfp8_tflops", &DeviceSpec::peakMxfp8, 1e12},
    SpecKey{"memory_gbs", &DeviceSpec::bandwidth, 1e9},
    SpecKey{"l2_mb", &DeviceSpec::l2Bytes, 1e6},
    SpecKey{"memory_gb", &DeviceSpec::memoryBytes, 1e9},
    SpecKey{"power_w", &DeviceSpec::powerW, 1},
};

void readSpecKey(DeviceSpec& spec, std::string_view key, const toml::node& node, const Place& place)
{
    for (const SpecKey& known : kSpecKeys) {
        if (known.key == key) {
            spec.*known.member = numberOf(node, key, place) * known.unit;
            return;
        }
    }
    if (key == "id")
        spec.id = textOf(node, key, place);
    else if (key == "name")
        spec.name = textOf(node, key, place);
    else if (key == "source")
        spec.source = textOf(node, key, place);
    else if (key == "constants_from")
        spec.constantsFrom = textOf(node, key, place);
    else if (key == "compute_capability")
        spec.computeCapability = static_cast<int>(numberOf(node, key, place));
    else if (key == "unverified" && node.is_array()) {
        for (const toml::node& entry : *node.as_array())
            spec.unverified.push_back(textOf(entry, key, place));
    } else {
        std::vector<std::string> keys{"id", "name", "source", "constants_from", "compute_capability", "unverified"};
        for (const SpecKey& known : kSpecKeys)
            keys.emplace_back(known.key);
        refuseKey(key, keys, place.at(node));
    }
}

DeviceSpec specFrom(const toml::table& table, const Place& place)
{
    DeviceSpec spec;
    for (const auto& [key, node] : table)
        readSpecKey(spec, key.str(), node, place);
    if (spec.id.empty() || spec.sms < 1 || spec.peak16 <= 0 || spec.bandwidth <= 0)
        throw Error("a device needs id, sms, bf16_tflops and memory_gbs", place.at(table), "");
    if (spec.name.empty())
        spec.name = spec.id;
    return spec;
}

template <typename Constants>
Constants constantsFrom(const toml::table& table, std::span<const Parameter<Constants>> parameters, const Place& place)
{
    Constants constants;
    for (const auto& [keyNode, node] : table) {
        const std::string_view key = keyNode.str();
        const auto known = std::ranges::find_if(parameters, [&](const auto& p) { return p.name == key; });
        if (known != parameters.end()) {
            constants.*(known->member) = numberOf(node, key, place);
            if (constants.*(known->member) <= 0)
                throw Error(fmt::format("'{}' must be above 0", key), place.at(node), "");
            continue;
        }
        if constexpr (std::is_same_v<Constants, GemmConstants>) {
            if (key == "tiles") {
                constants.tiles = textOf(node, key, place);
                if (tileMenu(constants.tiles).empty())
                    throw Error(fmt::format("there is no menu of tiles '{}'", constants.tiles), place.at(node),
                                "menus are simple, hopper, blackwell, cutlass, cpu");
                continue;
            }
            if (key == "max_split_k") {
                constants.maxSplitK = static_cast<int>(numberOf(node, key, place));
                continue;
            }
        }
        std::vector<std::string> keys;
        for (const auto& p : parameters)
            keys.emplace_back(p.name);
        refuseKey(key, keys, place.at(node));
    }
    return constants;
}

FitError errorFrom(const toml::table& table, const Place& place)
{
    FitError error;
    for (const auto& [keyNode, node] : table) {
        const std::string_view key = keyNode.str();
        if (key == "what")
            error.what = textOf(node, key, place);
        else if (key == "size")
            error.sizeClass = textOf(node, key, place);
        else if (key == "median")
            error.median = numberOf(node, key, place);
        else if (key == "p90")
            error.p90 = numberOf(node, key, place);
        else if (key == "rows")
            error.rows = static_cast<int>(numberOf(node, key, place));
        else if (key == "noise_median")
            error.noiseMedian = numberOf(node, key, place);
        else if (key == "noise_p90")
            error.noiseP90 = numberOf(node, key, place);
        else
            refuseKey(key, {"what", "size", "median", "p90", "rows", "noise_median", "noise_p90"}, place.at(node));
    }
    return error;
}

/// [fit.gemm.bf16], [fit.quantizer.cast]: one table a kind.
template <typename Constants, typename Slots, typename KindOf>
void readKinds(const toml::table& kinds, Slots& slots, std::span<const Parameter<Constants>> parameters, KindOf kindOf,
               const Place& place)
{
    for (const auto& [key, node] : kinds) {
        const auto kind = kindOf(key.str());
        if (!kind)
            refuseKey(key.str(), {"bf16", "cast", "tensorwise", "rowwise", "blockwise", "mxfp8"}, place.at(node));
        slots[static_cast<std::size_t>(*kind)] =
            constantsFrom<Constants>(tableOf(node, key.str(), place), parameters, place);
    }
}

OpConstants opFrom(const toml::table& table, const Place& place)
{
    using Key = std::pair<std::string_view, double OpConstants::*>;
    constexpr std::array kKeys{Key{"floor_us", &OpConstants::floorUs}, Key{"bytes_per_us", &OpConstants::bytesPerUs},
                               Key{"flops_per_us", &OpConstants::flopsPerUs},
                               Key{"cold_factor", &OpConstants::coldFactor},
                               Key{"cache_bytes", &OpConstants::cacheBytes}};
    OpConstants op;
    for (const auto& [key, node] : table) {
        const auto known = std::ranges::find_if(kKeys, [&](const auto& k) { return key.str() == k.first; });
        if (known == kKeys.end())
            refuseKey(key.str(), {"floor_us", "bytes_per_us", "flops_per_us", "cold_factor", "cache_bytes"},
                      place.at(node));
        op.*(known->second) = numberOf(node, key.str(), place);
        if (op.*(known->second) <= 0)
            throw Error(fmt::format("'{}' must be above 0", key.str()), place.at(node), "");
    }
    return op;
}

void readFit(DeviceModel& device, const toml::table& fit, const Place& place)
{
    for (const auto& [keyNode, node] : fit) {
        const std::string_view key = keyNode.str();
        if (key == "device")
            continue;
        if (key == "provenance")
            device.provenance = textOf(node, key, place);
        else if (key == "gemm")
            readKinds<GemmConstants>(tableOf(node, key, place), device.gemm, gemmParameters(), gemmKindFromString,
                                     place);
        else if (key == "quantizer")
            readKinds<QuantizerConstants>(tableOf(node, key, place), device.quantizer, quantizerParameters(),
                                          quantizerKindFromString, place);
        else if (key == "op") {
            for (const auto& [kind, op] : tableOf(node, key, place))
                device.ops[std::string(kind.str())] = opFrom(tableOf(op, kind.str(), place), place);
        } else if (key == "error" && node.is_array()) {
            for (const toml::node& entry : *node.as_array())
                device.errors.push_back(errorFrom(tableOf(entry, key, place), place));
        } else
            refuseKey(key, {"device", "provenance", "gemm", "quantizer", "op", "error"}, place.at(node));
    }
}

toml::table parsed(std::string_view text, std::string_view source)
{
    try {
        return toml::parse(text, source);
    } catch (const toml::parse_error& error) {
        throw Error(std::string(error.description()), fmt::format("{}:{}", source, error.source().begin.line),
                    "correct the file");
    }
}

}  // namespace

void DeviceTable::add(std::string_view text, std::string_view source)
{
    const toml::table root = parsed(text, source);
    const Place place{source};
    for (const auto& [key, node] : root) {
        if ((key.str() != "device" && key.str() != "fit") || !node.is_array_of_tables())
            refuseKey(key.str(), {"[[device]]", "[[fit]]"}, place.at(node));
    }
    if (const toml::array* devices = root["device"].as_array()) {
        for (const toml::node& node : *devices) {
            DeviceModel model{.spec = specFrom(*node.as_table(), place)};
            if (DeviceModel* known = lookUp(model.spec.id))
                *known = std::move(model);
            else
                m_devices.push_back(std::move(model));
        }
    }
    if (const toml::array* fits = root["fit"].as_array()) {
        for (const toml::node& node : *fits) {
            const toml::table& fit = *node.as_table();
            const std::string id = fit["device"].value_or(std::string());
            DeviceModel* device = lookUp(id);
            if (device == nullptr)
                throw Error(fmt::format("constants of '{}', which is no device", id), place.at(fit),
                            "describe it by [[device]] first");
            readFit(*device, fit, place);
        }
    }
}

DeviceTable builtInDevices()
{
    DeviceTable table;
    table.add(kDevicesToml, "devices.toml");
    table.add(kDeviceFitsToml, "device_fits.toml");
    table.resolve();
    return table;
}

}  // namespace fp8scope::predict
