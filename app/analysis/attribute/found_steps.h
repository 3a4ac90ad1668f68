// SPDX-License-Identifier: Apache-2.0
// The steps of a run that nothing marks.
#pragma once

#include "collector/trace/trace.h"

namespace fp8scope::analysis {

/// Appends the steps of a run that has none, and a diagnostic "steps" that says how they were found. A period of the
/// kernel sequence is a step if each repetition updates weights or computes a loss, if its matrix products repeat
/// inside of it (layers), or if the run multiplies no matrices at all; else it is taken for a layer of a single step.
/// Without such a period the whole capture is one step. A run with nothing on a device gets none.
void findSteps(Trace& trace, RunId run);

}  // namespace fp8scope::analysis
