// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/wire/records.h"

namespace fp8scope::worker {

/// This machine's CPU as a trace's device row; peaks are left 0 (not measured).
[[nodiscard]] wire::Device cpuDevice();

}  // namespace fp8scope::worker
