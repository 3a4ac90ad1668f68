// SPDX-License-Identifier: Apache-2.0
// The report's tables, one function each. A table without rows is left out of the report.
#pragma once

#include "app/report/report.h"

#include <vector>

namespace fp8scope::report {

[[nodiscard]] Table familyTable(const std::vector<analysis::Breakdown>&);
[[nodiscard]] Table layersTable(const Trace&, const std::vector<analysis::Breakdown>&);
/// One a run: its kernels with the most exposed time.
[[nodiscard]] std::vector<Table> kernelTables(const Trace&, const std::vector<analysis::Breakdown>&);
[[nodiscard]] Table lossTable(const Trace&, const std::vector<analysis::Breakdown>&);
[[nodiscard]] Table tensorTable(const Trace&, const std::vector<analysis::Breakdown>&);
[[nodiscard]] Table memoryTable(const Trace&, const std::vector<analysis::Breakdown>&);
[[nodiscard]] Table honestyTable(const analysis::Honesty&);
[[nodiscard]] Table diagnosticsTable(const Trace&);
/// The account's bars with the two steps at its ends.
[[nodiscard]] Table accountTable(const analysis::SpeedupAccount&);

/// "-32.0 ms" or "+5.20 ms".
[[nodiscard]] std::string formatDelta(std::int64_t ns);

}  // namespace fp8scope::report
