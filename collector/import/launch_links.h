// SPDX-License-Identifier: Apache-2.0
// From device work to the call that launched it and the op around that call.
#pragma once

#include "collector/import/host_nesting.h"
#include "collector/import/raw_events.h"

#include <cstdint>
#include <vector>

namespace fp8scope::import {

struct LaunchLink {
    std::uint32_t launch = kNone;  ///< an Api event; into RawEvents::host
    std::uint32_t op = kNone;      ///< the op named by the External id; else the innermost around the launch
};

struct LaunchLinks {
    std::vector<LaunchLink> ofDevice;  ///< one for each RawEvents::device
    std::vector<Diagnostic> diagnostics;
};

/// By correlation within the process, else by a flow arrow; the op by External id, else by what was open at the launch.
[[nodiscard]] LaunchLinks linkLaunches(const RawEvents& raw, const HostNesting& nesting);

}  // namespace fp8scope::import
