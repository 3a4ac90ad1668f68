// SPDX-License-Identifier: Apache-2.0
// The modules of a model as its ranges nest: "Qwen2DecoderLayer_3" > "Qwen2MLP_3" > "Linear_23".
#pragma once

#include "collector/import/id_index.h"
#include "collector/import/raw_events.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8scope::import {

/// Nodes are row numbers; kNone is the root.
class ModuleTree {
public:
    /// The module of this name inside `parent`; made on first use.
    std::uint32_t child(std::uint32_t parent, NameId name);
    /// A module that the file names by its whole path ("Module Hierarchy").
    std::uint32_t absolute(std::string_view path);
    /// Its path with dots, beginning where the paths of all modules given part.
    [[nodiscard]] std::vector<std::string> paths(const std::vector<std::uint32_t>& modules,
                                                 const std::vector<Name>& names) const;

private:
    struct Node {
        std::uint32_t parent = kNone;
        NameId name;  ///< none(): `path` holds the whole of it
        std::string path;
    };
    [[nodiscard]] std::vector<std::string_view> steps(std::uint32_t module, const std::vector<Name>& names) const;

    std::vector<Node> m_nodes;
    std::unordered_map<std::uint64_t, std::uint32_t> m_children;  ///< by parent and name
    std::unordered_map<std::string, std::uint32_t> m_absolute;    ///< looked up once per distinct Arguments
};

}  // namespace fp8scope::import
