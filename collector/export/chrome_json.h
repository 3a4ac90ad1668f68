// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/export/export.h"
#include "collector/export/output_file.h"

#include <vector>

namespace fp8scope::exporter {

/// The Trace Event Format with PyTorch's categories and arguments. `wanted`: by RunId.
void writeChromeJson(const Trace&, const std::vector<bool>& wanted, const ExportOptions&, OutputFile&);

}  // namespace fp8scope::exporter
