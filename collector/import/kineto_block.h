// SPDX-License-Identifier: Apache-2.0
// Parses one block of trace events.
#pragma once

#include "collector/import/event_blocks.h"
#include "collector/import/kineto_chunk.h"

#include <cstddef>
#include <memory>

namespace fp8scope::import {

/// One for a thread: it keeps its buffers from block to block.
class KinetoBlockParser {
public:
    KinetoBlockParser();
    ~KinetoBlockParser();

    /// Fills an empty chunk. Where simdjson refuses the block, each event is read alone, those that do not parse once
    /// more after mending, and what still does not is counted. Gives the position in block.text() behind the ']' that
    /// ends the array, npos if it goes on.
    std::size_t parse(const EventBlock& block, KinetoChunk& chunk);

private:
    class Fast;
    class Careful;
    std::unique_ptr<Fast> m_fast;
};

}  // namespace fp8scope::import
