// SPDX-License-Identifier: Apache-2.0
// The tables of an nsys export that tell what CPU threads did, and the metrics sampled beside them.
#include "collector/import/nsys_events.h"
#include "collector/import/pytorch_nvtx.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace fp8scope::import {
namespace {

using Column = NsysRows::Column;

HostEvent& addHost(NsysEvents& to, NsysEvents::Span span, std::uint32_t track, NameId name, HostKind kind)
{
    HostEvent& event = to.events.host.emplace_back();
    event.startNs = span.startNs;
    event.durNs = span.durNs;
    event.track = track;
    event.name = name;
    event.kind = kind;
    return event;
}

NameId namedOr(NsysEvents& to, NameKind kind, std::int64_t stringId, const char* otherwise)
{
    const NameId name = to.nameOf(kind, stringId);
    if (name.valid())
        return name;
    to.count("name_missing", Severity::DataLoss, "events whose name is not in the file's table of strings");
    return to.name(kind, otherwise);
}

/// A table of calls: start, end, the thread, the function's name; correlation where the calls launch something.
void readCalls(NsysEvents& to, std::string_view tableName, HostKind hostKind, NameKind nameKind)
{
    const NsysTable* const table = to.db.find(tableName);
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const Column start = rows.column("start"), end = rows.column("end"), thread = rows.column("globalTid");
    const Column name = rows.column("nameId");
    const Column correlation = hostKind == HostKind::Api ? rows.column("correlationId") : Column();
    while (rows.next()) {
        const auto span = to.span(rows, start, end);
        if (!span)
            continue;
        const std::uint32_t track = to.target.thread({rows.id(thread)});
        HostEvent& event =
            addHost(to, *span, track, namedOr(to, nameKind, rows.integer(name), "(call without a name)"), hostKind);
        event.correlation = rows.id(correlation);
    }
}

enum class NvtxType : std::int64_t { Mark = 34, Thread = 39, PushPop = 59, StartEnd = 60, DomainCreate = 75 };

/// Kinds that tell nothing to show: categories, and resources that are named or given up.
bool isSilent(std::int64_t type) { return type == 33 || type == 76 || (type >= 97 && type <= 99); }

class NvtxReader {
public:
    NvtxReader(NsysEvents& to, const NsysTable& table) : m_to(to), m_table(table) {}

    void read()
    {
        readDomains();
        NsysRows rows(m_to.db, m_table);
        const Columns columns(rows);
        while (rows.next())
            readRow(rows, columns);
        for (const std::size_t at : m_openEvents)
            m_to.events.host[at].durNs = std::max<std::int64_t>(m_to.endNs() - m_to.events.host[at].startNs, 0);
        m_to.count("nvtx_range_open", Severity::Info, "NVTX ranges that were never ended; shown up to the last event",
                   m_openEvents.size());
        m_to.count("nvtx_event_unknown", Severity::Info, "NVTX events of a kind that is not shown", m_unknown);
    }

private:
    struct Columns {
        explicit Columns(NsysRows& rows)
            : start(rows.column("start")), end(rows.column("end")), type(rows.column("eventType")),
              text(rows.column("text")), textId(rows.column("textId")), thread(rows.column("globalTid")),
              domain(rows.column("domainId"))
        {}
        Column start, end, type, text, textId, thread, domain;
    };

    std::string textOf(const NsysRows& rows, const Columns& columns)
    {
        std::string text = rows.text(columns.text);
        if (text.empty() && !rows.isNull(columns.textId))
            text = m_to.db.string(rows.integer(columns.textId)).value_or(std::string());
        return text;
    }

    /// Before the ranges: a domain may be named after its first range.
    void readDomains()
    {
        NsysRows rows(m_to.db, m_table);
        const Columns columns(rows);
        while (rows.next()) {
            const auto type = static_cast<NvtxType>(rows.integer(columns.type));
            if (type == NvtxType::DomainCreate)
                m_domains.insert_or_assign(rows.integer(columns.domain), textOf(rows, columns));
            else if (type == NvtxType::Thread)
                m_to.target.nameThread({rows.id(columns.thread)}, textOf(rows, columns));
        }
    }

    void readRow(const NsysRows& rows, const Columns& columns)
    {
        const std::int64_t type = rows.integer(columns.type);
        switch (static_cast<NvtxType>(type)) {
        case NvtxType::Mark: mark(rows, columns); return;
        case NvtxType::PushPop:
        case NvtxType::StartEnd: range(rows, columns, static_cast<NvtxType>(type)); return;
        case NvtxType::Thread:
        case NvtxType::DomainCreate: return;
        }
        if (!isSilent(type))
            ++m_unknown;
    }

    void mark(const NsysRows& rows, const Columns& columns)
    {
        if (const auto at = m_to.span(rows, columns.start, columns.start))
            addHost(m_to, *at, m_to.target.thread({rows.id(columns.thread)}), nameOf(rows, columns), HostKind::Range);
    }

    void range(const NsysRows& rows, const Columns& columns, NvtxType type)
    {
        const bool open = rows.isNull(columns.end);
        const auto span = m_to.span(rows, columns.start, open ? columns.start : columns.end);
        if (!span)
            return;
        const NsysGlobalId thread{rows.id(columns.thread)};
        // Ranges started and ended by hand need not nest and may end on another thread: they have a row of their own.
        const std::uint32_t track =
            type == NvtxType::PushPop ? m_to.target.thread(thread) : m_to.target.processRanges(thread);
        if (open)
            m_openEvents.push_back(m_to.events.host.size());
        if (type == NvtxType::PushPop && !rows.isNull(columns.text) && addOp(*span, track, rows.text(columns.text)))
            return;
        addHost(m_to, *span, track, nameOf(rows, columns), HostKind::Range);
    }

    /// PyTorch can write each op that it runs into a range.
    bool addOp(NsysEvents::Span span, std::uint32_t track, const std::string& text)
    {
        const std::optional<NvtxOp> op = parseNvtxOp(text);
        if (!op)
            return false;
        HostEvent& event = addHost(m_to, span, track, m_to.name(NameKind::Op, std::string(op->name)), HostKind::Op);
        event.sequenceNumber = op->sequenceNumber;
        if (op->shapes.empty())
            return true;
        const auto [shapes, isNew] =
            m_shapes.try_emplace(std::string(op->shapes), static_cast<std::uint32_t>(m_to.events.arguments.size()));
        if (isNew)
            m_to.events.arguments.push_back({.dims = shapes->first});
        event.arguments = shapes->second;
        return true;
    }

    NameId nameOf(const NsysRows& rows, const Columns& columns)
    {
        const std::int64_t domain = rows.integer(columns.domain);
        if (domain == 0 && rows.isNull(columns.text) && !rows.isNull(columns.textId))
            if (const NameId name = m_to.nameOf(NameKind::Range, rows.integer(columns.textId)); name.valid())
                return name;
        std::string text = textOf(rows, columns);
        if (text.empty())
            text = "(range without a name)";
        // As nsys' own reports print it: "NCCL:ncclAllReduce".
        if (const auto at = m_domains.find(domain); domain != 0 && at != m_domains.end() && !at->second.empty())
            text = at->second + ":" + text;
        return m_to.name(NameKind::Range, text);
    }

    NsysEvents& m_to;
    const NsysTable& m_table;
    std::map<std::int64_t, std::string> m_domains;
    std::unordered_map<std::string, std::uint32_t> m_shapes;  ///< into RawEvents::arguments
    std::vector<std::size_t> m_openEvents;                    ///< into the host events; their end is known last
    std::uint64_t m_unknown = 0;
};

}  // namespace

void readNsysCalls(NsysEvents& to) { readCalls(to, "CUPTI_ACTIVITY_KIND_RUNTIME", HostKind::Api, NameKind::Api); }

void readNsysLibraries(NsysEvents& to)
{
    for (const char* table : {"CUBLAS_EVENTS", "CUDNN_EVENTS", "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS",
                              "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS"})
        readCalls(to, table, HostKind::Range, NameKind::Range);
}

void readNsysOverhead(NsysEvents& to)
{
    for (const char* table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"})
        readCalls(to, table, HostKind::Overhead, NameKind::Range);
}

void readNsysRanges(NsysEvents& to)
{
    if (const NsysTable* const table = to.db.find("NVTX_EVENTS"))
        NvtxReader(to, *table).read();
}

void readNsysMetrics(NsysEvents& to)
{
    const NsysTable* const values = to.db.find("GPU_METRICS");
    const NsysTable* const metrics = to.db.find("TARGET_INFO_GPU_METRICS");
    if (values == nullptr || metrics == nullptr)
        return;
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> tracks;
    {
        NsysRows rows(to.db, *metrics);
        const Column type = rows.column("typeId"), metric = rows.column("metricId"), name = rows.column("metricName");
        while (rows.next())  // the type's lowest byte is the GPU
            tracks[{rows.integer(type), rows.integer(metric)}] =
                to.target.counter(rows.integer(type) & 0xff, rows.text(name));
    }
    NsysRows rows(to.db, *values);
    const Column time = rows.column("timestamp"), type = rows.column("typeId"), metric = rows.column("metricId");
    const Column value = rows.column("value");
    while (rows.next()) {
        const auto at = to.instant(rows, time);
        const auto track = tracks.find({rows.integer(type), rows.integer(metric)});
        if (at && track != tracks.end())
            to.events.samples.push_back({TrackId(track->second), *at, rows.real(value)});
        else if (at)
            to.count("metric_unknown", Severity::Info, "samples of a GPU metric that the file does not name");
    }
}

}  // namespace fp8scope::import
