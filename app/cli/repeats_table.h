// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/analysis/repeats.h"
#include "app/cli/command.h"

namespace fp8scope::cli {

/// What `fp8scope compare` and the end of a repeated `run` print: each mode's step over its repeats, and its difference
/// from the first mode with an interval. Prints nothing for a file without repeats.
void printRepeats(const Trace&, const TraceOptions&);

/// [{"mode","repeats","steps","step_ns","step_low_ns","step_high_ns","delta_ns","delta_low_ns","delta_high_ns",
/// "within_noise","medians_ns":[...]}]; the first mode has no deltas.
[[nodiscard]] Json repeatsJson(const std::vector<analysis::RunGroup>&);

/// "−3.20 ms" or "+1.10 ms".
[[nodiscard]] std::string signedTime(double ns, const std::string& unit);

}  // namespace fp8scope::cli
