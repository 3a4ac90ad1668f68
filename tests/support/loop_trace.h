// SPDX-License-Identifier: Apache-2.0
// A generated trace that looks like a recorded training loop: device queues with kernels, copies with bytes and
// all-reduces, CPU threads that launch them inside op ranges, layers, ops, steps, falling losses, clocks. Durations
// jitter as measured ones do.
#pragma once

#include "collector/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::test {

struct LoopTraceShape {
    std::size_t slices = 100'000;  ///< about so many over all runs; whole steps, at least one a run
    std::vector<std::string> modes{"bf16", "fp8", "fp8-fused"};  ///< one run each, one after another
    std::uint32_t layers = 8;
    std::uint32_t warmupSteps = 2;
    std::uint64_t seed = 1;
};

/// The same trace for the same shape.
[[nodiscard]] Trace makeLoopTrace(const LoopTraceShape& shape = {});

}  // namespace fp8scope::test
