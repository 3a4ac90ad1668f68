// SPDX-License-Identifier: Apache-2.0
// Whether this machine can hold a plan, asked before a run starts instead of found out by the kernel's killer.
#pragma once

#include "engine/plan/step_plan.h"

#include <cstdint>
#include <filesystem>

namespace fp8scope::session {

/// Bytes that the CPU executor needs for a plan: its arena, the data set, and the decoded operands of its largest GEMM.
[[nodiscard]] std::uint64_t bytesNeeded(const plan::StepPlan&);

/// Bytes that a new process may use: MemAvailable, or what the tightest control group around this process leaves, if
/// less. `root` is where proc and sys are found ("/"). The largest number where nothing is known.
[[nodiscard]] std::uint64_t availableMemory(const std::filesystem::path& root = "/");

/// Throws Error with the bytes needed, those there are, and what to lower, if the plan does not fit.
void requireMemory(const plan::StepPlan&, std::uint64_t available);

}  // namespace fp8scope::session
