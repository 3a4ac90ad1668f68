// SPDX-License-Identifier: Apache-2.0
// The `args` of Chrome events that belong to a name, a launch shape or an op: made once and not for every slice.
#pragma once

#include "collector/trace/trace.h"

#include <string>
#include <vector>

namespace fp8scope::exporter {

/// Pieces of JSON objects, each key after a comma: `, "precision": "fp8", "library": "cuBLAS"`.
struct ChromeArguments {
    explicit ChromeArguments(const Trace&);

    std::vector<std::string> ofName;   ///< by NameId: of device work
    std::vector<std::string> ofShape;  ///< by LaunchShapeId
    std::vector<std::string> ofOp;     ///< by OpId
};

}  // namespace fp8scope::exporter
