// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/analysis/advise.h"
#include "app/cli/command.h"

namespace fp8scope::cli {

/// Prints findings in the format of `options`; a table shows titles and gains, with `full` also evidence, estimate and
/// options.
void printFindings(const Trace& trace, const std::vector<analysis::Finding>& findings, const TraceOptions& options,
                   bool full);

}  // namespace fp8scope::cli
