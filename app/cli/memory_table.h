// SPDX-License-Identifier: Apache-2.0
// What each class of tensors needs at its peak, a column a run: where fp8's extra copies are.
#pragma once

#include "app/cli/command.h"

namespace fp8scope::cli {

/// Without rows where the trace says nothing of memory. Runs of one mode (repeats) need the same: the first is shown.
[[nodiscard]] Table memoryTable(const Trace&);
[[nodiscard]] Json memoryJson(const Trace&, RunId);
/// Prints the table after an empty line; nothing without rows.
void printMemory(const Trace&);

}  // namespace fp8scope::cli
