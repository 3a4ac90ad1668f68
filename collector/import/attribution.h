// SPDX-License-Identifier: Apache-2.0
// Which op, layer and phase each piece of device work belongs to.
#pragma once

#include "collector/import/host_nesting.h"
#include "collector/import/launch_links.h"
#include "collector/import/trace_op_table.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fp8scope::import {

/// One OpId for each device event; the ops themselves are in `table`.
///
/// The layer is the innermost module around the op; of a backward op, that of the forward op that made its autograd
/// node. The phase is the innermost evidence: an optimizer's range or op, a backward node, a marked range; an op
/// without any is forward work. In a backward node, a product that sums over the forward product's rows is a weight's
/// gradient, as are sums (biases) and what adds gradients up; all else is the gradient of the data.
[[nodiscard]] std::vector<OpId> attribute(const RawEvents& raw, const HostNesting& nesting, const LaunchLinks& links,
                                          const std::vector<RunId>& runOfTrack, TraceOpTable& table);

}  // namespace fp8scope::import
