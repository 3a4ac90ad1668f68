// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/export/export.h"

#include <vector>

namespace fp8scope::exporter {

/// The tables of an nsys export that scripts ask. `wanted`: by RunId. The file appears when it is whole.
void writeNsysSqlite(const Trace&, const std::vector<bool>& wanted, const std::string& writer,
                     const std::filesystem::path&);

}  // namespace fp8scope::exporter
