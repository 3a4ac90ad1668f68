// SPDX-License-Identifier: Apache-2.0
// The filter's rules as sentences. The automatic rule is torchao's (torchao/float8/float8_linear_utils.py,
// _auto_filter_for_recipe), whose thresholds were measured on H100.
#include "engine/plan/layer_filter.h"

#include "engine/plan/nearest.h"

#include <fmt/format.h>

#include <algorithm>

#include <fnmatch.h>

namespace fp8scope::plan {
namespace {

bool matches(const std::string& pattern, const std::string& name)
{
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string torchaoReason(std::string_view recipe, std::int64_t in, std::int64_t out)
{
    if (recipe == "tensorwise" && in <= 4096 && out <= 1024)
        return fmt::format(
            "torchao's tensorwise rule: {} in features, at most 4096, with {} out features, at most 1024", in, out);
    if (recipe == "rowwise" && out <= 2048)
        return fmt::format("torchao's rowwise rule: {} out features, at most 2048", out);
    if (recipe == "rowwise" && in <= 1024)
        return fmt::format("torchao's rowwise rule: {} in features, at most 1024", in);
    return {};
}

std::string sizeReason(const LayerFilter& filter, std::int64_t in, std::int64_t out)
{
    if (in < filter.minK)
        return fmt::format("in features {} below filter.min_k {}", in, filter.minK);
    if (out < filter.minN)
        return fmt::format("out features {} below filter.min_n {}", out, filter.minN);
    for (const auto& [side, features] : {std::pair("in", in), std::pair("out", out)}) {
        if (features % filter.multipleOf != 0)
            return fmt::format("{} features {} is not a multiple of {} (filter.multiple_of)", side, features,
                               filter.multipleOf);
    }
    return {};
}

std::string nearestLayers(const MlpConfig& config, const std::string& pattern)
{
    std::vector<std::string> names;
    for (std::size_t l = 0; l < config.layerCount(); ++l)
        names.push_back(layerName(l));
    if (const auto near = nearest(pattern, names))
        return fmt::format("did you mean '{}'?", *near);
    return names.size() == 1 ? fmt::format("the only layer is {}", names.front())
                             : fmt::format("the layers are {} to {}", names.front(), names.back());
}

}  // namespace

std::string layerName(std::size_t layer) { return fmt::format("layer{}", layer); }

std::string filterReason(const MlpConfig& config, std::size_t layer)
{
    const LayerFilter& filter = config.filter;
    if (filter.firstLayerBf16 && layer == 0)
        return "the first layer (filter.first_layer_bf16)";
    if (filter.lastLayerBf16 && layer + 1 == config.layerCount())
        return "the last layer (filter.last_layer_bf16)";
    const std::string name = layerName(layer);
    for (const std::string& pattern : filter.skip) {
        if (matches(pattern, name))
            return fmt::format("named by filter.skip '{}'", pattern);
    }
    const std::int64_t in = config.widths[layer], out = config.widths[layer + 1];
    if (std::string reason = sizeReason(filter, in, out); !reason.empty())
        return reason;
    return filter.torchaoAuto ? torchaoReason(toString(config.recipe.kind), in, out) : std::string();
}

std::optional<BrokenRelation> brokenFilter(const MlpConfig& config)
{
    for (const std::string& pattern : config.filter.skip) {
        bool found = false;
        for (std::size_t l = 0; l < config.layerCount() && !found; ++l)
            found = matches(pattern, layerName(l));
        if (!found)
            return BrokenRelation{"filter.skip", fmt::format("has '{}', which names no layer; {}", pattern,
                                                             nearestLayers(config, pattern))};
    }
    const std::string_view recipe = toString(config.recipe.kind);
    if (config.filter.torchaoAuto && recipe != "tensorwise" && recipe != "rowwise")
        return BrokenRelation{
            "filter.torchao_auto",
            fmt::format("needs the recipe tensorwise or rowwise: torchao has no rule for {}", recipe)};
    return {};
}

}  // namespace fp8scope::plan
