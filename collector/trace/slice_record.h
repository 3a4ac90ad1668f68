// SPDX-License-Identifier: Apache-2.0
// One slice as a row: how slices travel into a file, while a Trace keeps them as columns.
#pragma once

#include "collector/trace/ids.h"

#include <cstddef>
#include <cstdint>

namespace fp8scope {

/// One slice on its way into a file.
struct SliceRecord {
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
    NameId name;
    OpId op;
    std::uint64_t correlation = 0;  ///< 0: none
    LaunchShapeId launchShape;
    std::uint64_t bytes = 0;
    friend bool operator==(const SliceRecord&, const SliceRecord&) = default;
};

/// Slices of one column block at most.
inline constexpr std::size_t kMaxBlockSlices = 65536;
/// Starts and durations stay below this (146 years), so that sums of two never overflow.
inline constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 62;

}  // namespace fp8scope
