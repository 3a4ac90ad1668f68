// SPDX-License-Identifier: Apache-2.0
// From a file's raw events to a Trace.
#pragma once

#include "collector/import/raw_events.h"

namespace fp8scope::import {

/// Makes the trace of one file: one run a rank (a process with device work); slices on their tracks, sorted, with lanes
/// for overlaps; device slices with the op that launched them (by correlation within the process, else External id,
/// else flow), ops as TraceOp with operand shapes and types, the layer from the module around the op, the phase from
/// autograd's sequence numbers; steps where the file marks them. What could not be attributed is counted in the
/// diagnostics. Takes the events by value to free them on the way.
/// Readers see to it that every event's track and name, and every track's process and device, exist, that durations are
/// not negative, and that times are well inside 64 bits (|t| < 2^61).
[[nodiscard]] Trace assemble(RawEvents);

}  // namespace fp8scope::import
