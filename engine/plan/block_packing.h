// SPDX-License-Identifier: Apache-2.0
// Packing of blocks with lifetimes into one address range (the dynamic storage allocation problem). Internal to
// engine/plan.
#pragma once

#include <cstddef>
#include <vector>

namespace fp8scope::plan {

/// Bytes that are needed from op `first` to op `last`, both included. Sizes are multiples of the arena's alignment.
struct Block {
    int first = 0, last = 0;
    std::size_t bytes = 0;
    std::size_t offset = 0;  ///< the result
};

/// Gives every block an offset so that blocks whose lifetimes meet share no byte; returns the height of the range.
/// `slot` is the smallest size; `opCount` bounds the lifetimes.
/// Up to some thousand blocks the largest are placed first, in the tightest gap, and what ends highest is tried earlier
/// a few times over. Beyond, where that would be quadratic, blocks are placed in order of time, forwards or backwards.
[[nodiscard]] std::size_t packBlocks(std::vector<Block>& blocks, int opCount, std::size_t slot);

/// The most bytes needed at once: no packing is lower.
[[nodiscard]] std::size_t mostBytesAtOnce(const std::vector<Block>& blocks, int opCount);

}  // namespace fp8scope::plan
