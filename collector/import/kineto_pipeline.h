// SPDX-License-Identifier: Apache-2.0
// Blocks of events parsed on several threads, handed back in file order.
#pragma once

#include "collector/import/kineto_block.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fp8scope::import {

struct ParsedBlock {
    EventBlock block;
    KinetoChunk chunk;
    std::size_t arrayEnd = std::string_view::npos;  ///< as KinetoBlockParser::parse gives it
    double share = 0;                               ///< of the file, up to and with this block
    std::exception_ptr failure;
    bool done = false;
};

class KinetoPipeline {
public:
    /// With one thread, take() parses.
    explicit KinetoPipeline(unsigned threads);
    ~KinetoPipeline();  ///< Drops what is not parsed yet.

    [[nodiscard]] bool full() const { return m_queue.size() >= m_limit; }
    [[nodiscard]] bool empty() const { return m_queue.empty(); }
    /// An empty one, perhaps with the buffers of an earlier block.
    [[nodiscard]] std::unique_ptr<ParsedBlock> spare();
    void put(std::unique_ptr<ParsedBlock>);
    /// The oldest block, once it is parsed. Rethrows what its parser threw.
    [[nodiscard]] std::unique_ptr<ParsedBlock> take();
    void giveBack(std::unique_ptr<ParsedBlock>);
    /// What is still to come is no events: it is not parsed any more.
    void stopParsing() { m_parsing = false; }

private:
    void work();
    static void parse(ParsedBlock&, KinetoBlockParser&, bool parsing);

    std::size_t m_limit;
    std::deque<std::unique_ptr<ParsedBlock>> m_queue;  ///< of the owner's thread only
    std::vector<std::unique_ptr<ParsedBlock>> m_spares;
    std::atomic<bool> m_parsing = true;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<ParsedBlock*> m_toParse;
    bool m_ending = false;
    KinetoBlockParser m_ownParser;
    std::vector<std::jthread> m_workers;
};

}  // namespace fp8scope::import
