// SPDX-License-Identifier: Apache-2.0
// Nsight Systems' SQLite exports (`nsys export --type sqlite`), of every schema from 2021 on.
#pragma once

#include "collector/import/import.h"
#include "collector/import/raw_events.h"

#include <filesystem>

namespace fp8scope::import {

/// Whether an SQLite file is an export of Nsight Systems; looks at its table names only. Throws Error when it is no
/// readable SQLite file.
[[nodiscard]] bool isNsysDatabase(const std::filesystem::path&);

/// Reads kernels, copies, memsets, graph launches, waits, runtime and driver calls, NVTX ranges, the profiler's
/// overhead and GPU metrics. Environment variables and the output of the profiled program, which such files hold, are
/// not looked at. A table that is damaged in the middle gives its readable rows and a diagnostic. The file is opened
/// read-only and nothing is written beside it. Memory stays near the size of the file. Throws Error when the file is
/// none of nsys or holds no event that can be read.
[[nodiscard]] RawEvents readNsys(const std::filesystem::path&, const ImportOptions& = {});

}  // namespace fp8scope::import
