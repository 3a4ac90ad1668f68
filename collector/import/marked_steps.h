// SPDX-License-Identifier: Apache-2.0
// The steps of a run where the file marks them.
#pragma once

#include "collector/import/launch_links.h"
#include "collector/import/name_hints.h"
#include "collector/import/raw_events.h"

#include <cstdint>
#include <vector>

namespace fp8scope::import {

/// The steps of each run (`runOfTrack` by track), appended to the trace with a diagnostic "steps" that says what marked
/// them and how sure that is. The surest mark that a run has is used alone.
///
/// A mark is made by a CPU thread that runs ahead of the device, so a step's extent is the device's: from the start of
/// the first work launched in it to that of the first work launched in the next one. Steps then follow each other
/// without gaps, and all time between belongs to one of them. The last step ends with its last work, and no earlier
/// than its mark is long. A single step, and steps without device work, take their marks' time.
void markSteps(const RawEvents& raw, const std::vector<NameHint>& hints, const LaunchLinks& links,
               const std::vector<RunId>& runOfTrack, Trace& trace);

}  // namespace fp8scope::import
