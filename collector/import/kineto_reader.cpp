// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_reader.h"

#include "collector/import/kineto_merge.h"
#include "collector/import/kineto_pipeline.h"
#include "collector/trace/error.h"

#include <algorithm>
#include <thread>

namespace fp8scope::import {
namespace {

class KinetoReader {
public:
    KinetoReader(ByteSource& source, std::string name, const ImportOptions& options, std::size_t blockBytes)
        : m_source(source), m_name(std::move(name)), m_options(options), m_blockBytes(blockBytes), m_top(m_head)
    {}

    RawEvents read()
    {
        std::string afterBracket = findEvents();
        if (m_top.inEvents())
            readEvents(std::move(afterBracket));
        reportEnd();
        RawEvents raw = m_merger.finish(m_head);
        if (m_merger.events() == 0)
            throw Error("holds no trace events", m_name,
                        "export the trace again; a profiler that was stopped before its first step writes such files");
        raw.source = m_name;
        return raw;
    }

private:
    /// Reads up to behind the '[' of the events and gives what was read of them.
    std::string findEvents()
    {
        std::string buffer(std::size_t{64} << 10, '\0');
        while (!m_top.inEvents()) {
            const std::size_t n = m_source.read(buffer);
            const std::size_t used = m_top.feed(std::string_view(buffer).substr(0, n));
            if (m_top.inEvents())
                return buffer.substr(used, n - used);
            if (n < buffer.size() || m_top.done())
                break;
            checkStop();
        }
        if (m_top.first() != '{')
            throw Error("is no JSON object or array", m_name, "see `fp8scope import --help` for what can be opened");
        throw Error("holds no traceEvents", m_name,
                    "the profiler did not finish writing it, or it is JSON of another tool");
    }

    void readEvents(std::string head)
    {
        const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
        KinetoPipeline pipeline(m_options.threads != 0 ? m_options.threads : cores);
        EventBlocks blocks(m_source, std::move(head), m_blockBytes);
        for (bool more = true; more || !pipeline.empty();) {
            while (more && !pipeline.full()) {
                std::unique_ptr<ParsedBlock> next = pipeline.spare();
                more = blocks.next(next->block);
                if (!more)
                    break;
                next->share = share();
                pipeline.put(std::move(next));
            }
            if (pipeline.empty())
                break;
            std::unique_ptr<ParsedBlock> block = pipeline.take();
            takeBlock(*block, pipeline);
            pipeline.giveBack(std::move(block));
            checkStop();
            report();
        }
    }

    void takeBlock(const ParsedBlock& parsed, KinetoPipeline& pipeline)
    {
        const std::string_view text = parsed.block.text();
        if (!m_top.inEvents()) {
            m_top.feed(text);
            m_top.feed(",");  // that was dropped between two blocks
            return;
        }
        m_merger.add(parsed.chunk, parsed.share);
        if (parsed.arrayEnd == std::string_view::npos)
            return;
        pipeline.stopParsing();
        m_top.leaveEvents();
        m_top.feed(text.substr(std::min(parsed.arrayEnd, text.size())));
        m_closed = true;
    }

    double share() const
    {
        const auto total = static_cast<double>(m_source.total());
        return total > 0 ? static_cast<double>(m_source.consumed()) / total : 0.0;
    }

    void report() const
    {
        if (m_options.onProgress)
            m_options.onProgress({"reading", m_source.consumed(), m_source.total()});
    }

    void checkStop() const
    {
        if (m_options.stop.stop_requested())
            throw ImportCancelled{};
    }

    void reportEnd()
    {
        const auto add = [&](const char* name, std::string text) {
            m_head.diagnostics.push_back(
                {.name = name, .severity = Severity::DataLoss, .count = 1, .text = std::move(text)});
        };
        if (const std::string damage = m_source.damage(); !damage.empty())
            add("damaged_file", damage + ": what comes before is shown");
        else if (!m_closed)
            add("unfinished_file", "the list of events has no end (the profiled program was probably killed while it "
                                   "wrote): what is there is shown");
    }

    ByteSource& m_source;
    std::string m_name;
    const ImportOptions& m_options;
    std::size_t m_blockBytes;
    KinetoHead m_head;
    TopLevel m_top;
    KinetoMerger m_merger;
    bool m_closed = false;
};

}  // namespace

RawEvents readKineto(ByteSource& source, std::string name, const ImportOptions& options, std::size_t blockBytes)
{
    return KinetoReader(source, std::move(name), options, blockBytes).read();
}

RawEvents readKineto(ByteSource& source, std::string name, const ImportOptions& options)
{
    return readKineto(source, std::move(name), options, kKinetoBlockBytes);
}

RawEvents readKineto(std::string_view json, std::string name, const ImportOptions& options)
{
    const std::unique_ptr<ByteSource> source = openMemory(json);
    return readKineto(*source, std::move(name), options);
}

}  // namespace fp8scope::import
