// SPDX-License-Identifier: Apache-2.0
// A trace as text, one row a line, for comparing whole traces in tests.
#pragma once

#include "collector/trace/trace.h"

#include <string>

namespace fp8scope::test {

/// Every table and every slice (with lanes). Equal texts mean equal traces.
[[nodiscard]] std::string toText(const Trace& trace);

}  // namespace fp8scope::test
