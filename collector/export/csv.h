// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/export/export.h"
#include "collector/export/output_file.h"

#include <vector>

namespace fp8scope::exporter {

/// A header and a row a slice (RFC 4180). Columns: resources/help/export.md. `wanted`: by RunId.
void writeCsv(const Trace&, const std::vector<bool>& wanted, const ExportOptions&, OutputFile&);

}  // namespace fp8scope::exporter
