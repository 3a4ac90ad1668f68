// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/analysis/account.h"
#include "app/cli/command.h"

namespace fp8scope::cli {

/// Prints each account as a table (or all as one JSON document or CSV).
void printAccounts(const Trace& trace, const std::vector<analysis::SpeedupAccount>& accounts,
                   const TraceOptions& options);

}  // namespace fp8scope::cli
