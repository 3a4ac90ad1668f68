// SPDX-License-Identifier: Apache-2.0
#include "collector/import/module_tree.h"

#include "collector/import/name_hints.h"

#include <algorithm>

namespace fp8scope::import {

std::uint32_t ModuleTree::child(std::uint32_t parent, NameId name)
{
    const std::uint64_t key = (std::uint64_t{parent} << 32U) | name.value;
    const auto [entry, isNew] = m_children.try_emplace(key, static_cast<std::uint32_t>(m_nodes.size()));
    if (isNew)
        m_nodes.push_back({parent, name, {}});
    return entry->second;
}

std::uint32_t ModuleTree::absolute(std::string_view path)
{
    const auto [entry, isNew] = m_absolute.try_emplace(std::string(path), static_cast<std::uint32_t>(m_nodes.size()));
    if (isNew)
        m_nodes.push_back({kNone, NameId::none(), std::string(path)});
    return entry->second;
}

std::vector<std::string_view> ModuleTree::steps(std::uint32_t module, const std::vector<Name>& names) const
{
    std::vector<std::string_view> path;
    for (; module != kNone; module = m_nodes[module].parent) {
        const Node& node = m_nodes[module];
        path.push_back(node.name.valid() ? moduleName(names[node.name.value].text) : std::string_view(node.path));
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<std::string> ModuleTree::paths(const std::vector<std::uint32_t>& modules,
                                           const std::vector<Name>& names) const
{
    std::vector<std::vector<std::string_view>> all;
    all.reserve(modules.size());
    for (const std::uint32_t module : modules)
        all.push_back(steps(module, names));
    std::size_t shared = all.empty() ? 0 : all.front().size();
    for (const auto& path : all) {
        const std::size_t most = std::min(shared, path.size() - 1);  // the last step always stays
        shared = static_cast<std::size_t>(
            std::mismatch(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(most), all.front().begin()).first -
            path.begin());
    }
    std::vector<std::string> texts;
    for (const auto& path : all) {
        std::string text;
        for (std::size_t i = shared; i < path.size(); ++i)
            text.append(text.empty() ? "" : ".").append(path[i]);
        texts.push_back(std::move(text));
    }
    return texts;
}

}  // namespace fp8scope::import
