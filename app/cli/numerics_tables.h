// SPDX-License-Identifier: Apache-2.0
// The tables and the JSON document of `fp8scope numerics`.
#pragma once

#include "app/cli/command.h"

#include <string>
#include <vector>

namespace fp8scope::cli {

/// A row a quantized tensor, the worst first.
[[nodiscard]] Table worstTensorTable(const Trace&, RunId);
/// A row a step and tensor; `tensor`: only this one's, unless empty.
[[nodiscard]] Table tensorStepTable(const Trace&, RunId, const analysis::StepLimit&, const std::string& tensor);
/// How a tensor's magnitudes lie in the format's range, a row a power of two.
[[nodiscard]] Table magnitudeTable(const Trace&, RunId, const std::string& tensor);
/// How far layers are from bf16; no rows without `run --shadow`.
[[nodiscard]] Table shadowTable(const Trace&, RunId);
/// The runs' losses and gradient norms side by side, at ten steps or so.
[[nodiscard]] Table curveTable(const Trace&, const std::vector<analysis::Breakdown>&);

[[nodiscard]] Json numericsJson(const Trace&, const std::vector<analysis::Breakdown>&);

}  // namespace fp8scope::cli
