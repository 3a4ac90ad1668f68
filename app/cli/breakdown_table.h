// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace fp8scope::cli {

/// Prints the breakdown of `runs` by "family", "role" or "phase" in the format of `options`.
void printBreakdown(const Trace& trace, const std::vector<analysis::Breakdown>& runs, const TraceOptions& options,
                    const std::string& by);

}  // namespace fp8scope::cli
