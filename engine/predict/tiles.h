// SPDX-License-Identifier: Apache-2.0
// The tiles of D that one SM computes at a time, as the libraries of an architecture offer them.
#pragma once

#include <span>
#include <string_view>

namespace fp8scope::predict {

/// rows x cols of row-major D[m, n]: rows along m (tokens).
struct Tile {
    int rows = 128, cols = 128;
};

/// "simple" (Ampere, Ada and consumer Blackwell, and kernels without clusters), "hopper", "blackwell", "cutlass",
/// "deepgemm". Empty for an unknown name. Largest tiles first.
[[nodiscard]] std::span<const Tile> tileMenu(std::string_view name);

}  // namespace fp8scope::predict
