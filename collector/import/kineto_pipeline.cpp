// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_pipeline.h"

namespace fp8scope::import {

KinetoPipeline::KinetoPipeline(unsigned threads) : m_limit(2 * std::size_t{threads} + 1)
{
    for (unsigned i = 0; threads > 1 && i < threads; ++i)
        m_workers.emplace_back([this] { work(); });
}

KinetoPipeline::~KinetoPipeline()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_ending = true;
        m_toParse.clear();
    }
    m_changed.notify_all();
}

std::unique_ptr<ParsedBlock> KinetoPipeline::spare()
{
    if (m_spares.empty())
        return std::make_unique<ParsedBlock>();
    std::unique_ptr<ParsedBlock> block = std::move(m_spares.back());
    m_spares.pop_back();
    return block;
}

void KinetoPipeline::giveBack(std::unique_ptr<ParsedBlock> block)
{
    block->chunk = KinetoChunk{};
    block->arrayEnd = std::string_view::npos;
    block->done = false;
    m_spares.push_back(std::move(block));
}

void KinetoPipeline::put(std::unique_ptr<ParsedBlock> block)
{
    ParsedBlock* const added = block.get();
    m_queue.push_back(std::move(block));
    if (m_workers.empty())
        return;
    {
        const std::scoped_lock lock(m_mutex);
        m_toParse.push_back(added);
    }
    m_changed.notify_all();
}

void KinetoPipeline::parse(ParsedBlock& block, KinetoBlockParser& parser, bool parsing)
{
    try {
        if (parsing)
            block.arrayEnd = parser.parse(block.block, block.chunk);
    } catch (...) {
        block.failure = std::current_exception();
    }
}

std::unique_ptr<ParsedBlock> KinetoPipeline::take()
{
    std::unique_ptr<ParsedBlock> block = std::move(m_queue.front());
    m_queue.pop_front();
    if (m_workers.empty()) {
        parse(*block, m_ownParser, m_parsing);
    } else {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return block->done; });
    }
    if (block->failure)
        std::rethrow_exception(block->failure);
    return block;
}

void KinetoPipeline::work()
{
    KinetoBlockParser parser;
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_ending || !m_toParse.empty(); });
        if (m_toParse.empty())
            return;
        ParsedBlock* const block = m_toParse.front();
        m_toParse.pop_front();
        lock.unlock();
        parse(*block, parser, m_parsing);
        lock.lock();
        block->done = true;
        m_changed.notify_all();
    }
}

}  // namespace fp8scope::import
