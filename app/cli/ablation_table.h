// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/analysis/ablation.h"
#include "app/cli/command.h"

namespace fp8scope::cli {

/// The chain with what each fusion buys; what `fp8scope compare` and the end of `run --ablate` print.
void printAblation(const Trace&, const analysis::Ablation&, const TraceOptions&);

/// {"bf16":{step},"plain":{step},"fp8_against_bf16":{difference},"chain":[{"fusion",step,difference,"needs","alone"}],
/// "skipped"}; a step is "mode","step_ns","step_low_ns","step_high_ns","repeats", a difference
/// "delta_ns","delta_low_ns","delta_high_ns","within_noise".
[[nodiscard]] Json ablationJson(const analysis::Ablation&);

}  // namespace fp8scope::cli
