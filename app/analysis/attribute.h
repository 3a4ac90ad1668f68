// SPDX-License-Identifier: Apache-2.0
// What an imported file does not say and its kernels show: steps, layers, phases, and which GEMM a quantization feeds.
#pragma once

#include "collector/trace/trace.h"

namespace fp8scope::analysis {

/// Completes the runs that were imported; others stay as they are. Names must have their roles (classification comes
/// first). What the file said is never changed.
/// - A run without steps gets those of the period in its kernel sequence; without one, the whole capture as one step. A
///   diagnostic "steps" says which, and how sure it is.
/// - A run without layers gets those of the sequence that repeats within a step.
/// - Products inside a framework's own backward node (Transformer Engine's) are told apart as dgrad and wgrad.
/// - Quantization kernels without a layer get the layer and phase of the GEMM that they feed.
void attribute(Trace& trace);

}  // namespace fp8scope::analysis
