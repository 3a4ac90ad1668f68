// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_builder.h"

#include "collector/import/decimal_time.h"
#include "collector/import/json_text.h"

#include <algorithm>
#include <charconv>

namespace fp8scope::import {
namespace {

/// 2042 in ns since 1970: times beyond are no times, and differences of those within do not leave int64.
constexpr std::int64_t kMostNs = 2'300'000'000'000'000'000;

RowPart partOf(const RawValue& value)
{
    if (value.isNumber())
        return {value.signedNumber(), {}};
    return value.said() ? RowPart{0, unescapedJson(value.text)} : RowPart{};
}

/// The numbers of "[128, 1, 1]".
void readTriple(std::string_view json, std::uint32_t (&triple)[3])
{
    std::size_t n = 0;
    for (std::size_t i = 0; i < json.size() && n < 3;) {
        if (json[i] < '0' || json[i] > '9') {
            ++i;
            continue;
        }
        const auto [end, error] = std::from_chars(json.data() + i, json.data() + json.size(), triple[n]);
        ++n;
        i = static_cast<std::size_t>(end - json.data());
    }
}

std::size_t mixed(std::size_t hash, std::size_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15U; }

NameKind nameKindOf(SpanKind kind)
{
    switch (kind) {
    case SpanKind::Kernel: return NameKind::Kernel;
    case SpanKind::Memcpy: return NameKind::Memcpy;
    case SpanKind::Memset: return NameKind::Memset;
    case SpanKind::DeviceWait: return NameKind::Sync;
    case SpanKind::Op: return NameKind::Op;
    case SpanKind::Api: return NameKind::Api;
    default: return NameKind::Range;
    }
}

HostKind hostKindOf(SpanKind kind)
{
    switch (kind) {
    case SpanKind::Op: return HostKind::Op;
    case SpanKind::Api: return HostKind::Api;
    case SpanKind::Frame: return HostKind::Frame;
    case SpanKind::Overhead: return HostKind::Overhead;
    default: return HostKind::Range;
    }
}

}  // namespace

std::size_t ShapeHash::operator()(const LaunchShape& shape) const noexcept
{
    std::size_t hash = shape.registers;
    for (int i = 0; i < 3; ++i)
        hash = mixed(hash, (std::size_t{shape.grid[i]} << 32U) + shape.block[i]);
    return mixed(hash, shape.dynamicShared);
}

std::size_t ArgumentsHash::operator()(const Arguments& a) const noexcept
{
    const std::hash<std::string> text;
    std::size_t hash = static_cast<std::size_t>(a.sequence) + static_cast<std::size_t>(a.messageElements) * 31;
    for (const std::string* part :
         {&a.dims, &a.types, &a.strides, &a.concrete, &a.moduleHierarchy, &a.collective, &a.group, &a.groupRanks}) {
        if (!part->empty())
            hash = mixed(hash, text(*part));
    }
    return hash;
}

void KinetoBuilder::add(const EventText& event)
{
    ++m_chunk.events;
    switch (event.phase()) {
    case 'X': return addSpan(event);
    case 's':
    case 't': return addFlow(event, true);
    case 'f': return addFlow(event, false);
    case 'M': return addRowName(event);
    case 'i':
    case 'I':
    case 'R': return addInstant(event);
    case 'B': return addBoundary(event, true, false);
    case 'E': return addBoundary(event, false, false);
    case 'b':
    case 'S': return addBoundary(event, true, true);
    case 'e':
    case 'F': return addBoundary(event, false, true);
    case '\0': return countOddity(m_chunk.oddities, kNotAnEvent);
    default: return countOddity(m_chunk.oddities, kUnknownPhase, event[EventKey::Phase].unquoted());
    }
}

std::optional<std::int64_t> KinetoBuilder::timeOf(const EventText& event)
{
    const std::optional<std::int64_t> ns = nsFromMicroseconds(event[EventKey::Ts].text);
    if (ns && *ns <= kMostNs && *ns >= -kMostNs)
        return ns;
    countOddity(m_chunk.oddities, kNoTime);
    return std::nullopt;
}

std::optional<KinetoBuilder::Span> KinetoBuilder::spanOf(const EventText& event)
{
    const std::optional<std::int64_t> start = timeOf(event);
    if (!start)
        return std::nullopt;
    const RawValue& dur = event[EventKey::Dur];
    std::int64_t ns = dur.said() ? nsFromMicroseconds(dur.text).value_or(0) : 0;
    if (ns < 0 || ns > kMostNs) {
        countOddity(m_chunk.oddities, kNegativeDuration);
        ns = 0;
    }
    return Span{*start, ns};
}

std::uint32_t KinetoBuilder::row(RowKey key)
{
    const auto [place, isNew] = m_rowIds.try_emplace(std::move(key), static_cast<std::uint32_t>(m_chunk.rows.size()));
    if (isNew)
        m_chunk.rows.push_back({place->first});
    return place->second;
}

std::uint32_t KinetoBuilder::row(const EventText& event, RowUse use)
{
    const std::string_view pid = event[EventKey::Pid].text;
    const std::string_view tid = event[EventKey::Tid].text;
    for (const LastRow& last : m_lastRows) {
        if (last.use == use && last.tid == tid && last.pid == pid && !last.tid.empty())
            return last.id;
    }
    const std::uint32_t id = row({partOf(event[EventKey::Pid]), partOf(event[EventKey::Tid]), use});
    LastRow& last = m_lastRows[m_nextLastRow++ % m_lastRows.size()];
    last.pid.assign(pid);
    last.tid.assign(tid);
    last.use = use;
    last.id = id;
    return id;
}

std::uint32_t KinetoBuilder::deviceRow(const EventText& event, RowUse use)
{
    const std::uint32_t id = row(event, use);
    Row& found = m_chunk.rows[id];
    if (found.device < 0 && event[ArgKey::Device].isNumber())
        found.device = event[ArgKey::Device].signedNumber(-1);
    if (found.stream < 0 && event[ArgKey::Stream].isNumber())
        found.stream = event[ArgKey::Stream].signedNumber(-1);
    return id;
}

NameId KinetoBuilder::name(const RawValue& text, NameKind kind)
{
    const std::string_view raw = text.unquoted();
    if (raw.find('\\') == std::string_view::npos) {
        m_name.text.assign(raw);
    } else {
        bool mended = false;
        m_name.text = unescapedJson(text.text, &mended);
        if (mended)
            countOddity(m_chunk.oddities, kMended);
    }
    m_name.kind = kind;
    return NameId(m_chunk.names.add(m_name));
}

LaunchShapeId KinetoBuilder::launchShape(const EventText& event)
{
    if (!event[ArgKey::Grid].said() && !event[ArgKey::Block].said())
        return LaunchShapeId::none();
    LaunchShape shape;
    readTriple(event[ArgKey::Grid].text, shape.grid);
    readTriple(event[ArgKey::Block].text, shape.block);
    shape.registers = static_cast<std::uint32_t>(event[ArgKey::Registers].number());
    shape.dynamicShared = static_cast<std::uint32_t>(event[ArgKey::SharedMemory].number());  // static is in it
    return LaunchShapeId(m_chunk.shapes.add(shape));
}

std::uint32_t KinetoBuilder::opArguments(const EventText& event)
{
    const std::pair<ArgKey, std::string*> texts[] = {
        {ArgKey::Dims, &m_arguments.dims},
        {ArgKey::Types, &m_arguments.types},
        {ArgKey::Strides, &m_arguments.strides},
        {ArgKey::Concrete, &m_arguments.concrete},
        {ArgKey::ModuleHierarchy, &m_arguments.moduleHierarchy},
        {ArgKey::Collective, &m_arguments.collective},
        {ArgKey::Group, &m_arguments.group},
        {ArgKey::GroupRanks, &m_arguments.groupRanks},
    };
    bool any = false;
    for (const auto& [key, text] : texts) {
        text->assign(event[key].text);
        any = any || event[key].said();
    }
    if (!any)
        return DeviceEvent::kNoArguments;
    const bool collective = event[ArgKey::Collective].said();
    if (collective && !event[ArgKey::Types].said())
        m_arguments.types.assign(event[ArgKey::Dtype].text);
    m_arguments.groupSize = collective ? event[ArgKey::GroupSize].signedNumber() : 0;
    m_arguments.messageElements = collective ? event[ArgKey::MessageElements].signedNumber() : 0;
    m_arguments.sequence = collective ? event[ArgKey::Sequence].signedNumber(-1) : -1;
    return m_chunk.arguments.add(m_arguments);
}

void KinetoBuilder::addSpan(const EventText& event)
{
    const std::string_view category = event[EventKey::Category].unquoted();
    const SpanKind kind = spanKindOf(category);
    if (kind == SpanKind::ProfilerSpan)
        return countOddity(m_chunk.oddities, kProfilerMark);
    const std::optional<Span> span = spanOf(event);
    if (!span)
        return;
    m_chunk.knownCategories += kind != SpanKind::Unknown ? 1 : 0;
    switch (kind) {
    case SpanKind::Kernel:
    case SpanKind::Memcpy:
    case SpanKind::Memset:
    case SpanKind::DeviceWait: addDevice(event, kind, *span); break;
    case SpanKind::DeviceRange: addRange(event, RowUse::DeviceRanges, *span); break;
    case SpanKind::Unknown:
        if (!category.empty())
            countOddity(m_chunk.oddities, kUnknownCategory, category);
        addRange(event, RowUse::Marks, *span);
        break;
    default: addHost(event, kind, *span); break;
    }
    m_last.pid.assign(event[EventKey::Pid].unquoted());
    m_last.tid.assign(event[EventKey::Tid].unquoted());
    m_last.ts.assign(event[EventKey::Ts].text);
    m_last.correlation = event[ArgKey::Correlation].number();
}

void KinetoBuilder::addDevice(const EventText& event, SpanKind kind, Span span)
{
    DeviceEvent& made = m_chunk.device.emplace_back();
    made.startNs = span.startNs;
    made.durNs = span.durNs;
    made.track = deviceRow(event, kind == SpanKind::DeviceWait ? RowUse::DeviceWaits : RowUse::DeviceQueue);
    made.name = name(event[EventKey::Name], nameKindOf(kind));
    made.correlation = event[ArgKey::Correlation].number();
    made.externalId = event[ArgKey::ExternalId].number();
    made.graphNode = event[ArgKey::GraphNode].number();
    if (kind == SpanKind::Kernel) {
        made.launchShape = launchShape(event);
        if (event[ArgKey::Collective].said())
            made.arguments = opArguments(event);
    } else {
        made.bytes = event[ArgKey::Bytes].number();
    }
}

void KinetoBuilder::addHost(const EventText& event, SpanKind kind, Span span)
{
    HostEvent& made = m_chunk.host.emplace_back();
    made.startNs = span.startNs;
    made.durNs = span.durNs;
    made.track = row(event, RowUse::Thread);
    made.kind = hostKindOf(kind);
    made.name = name(event[EventKey::Name], nameKindOf(kind));
    made.externalId = event[ArgKey::ExternalId].number();
    made.correlation = event[ArgKey::Correlation].number();
    if (kind != SpanKind::Op && kind != SpanKind::Range)
        return;
    made.sequenceNumber = event[ArgKey::SequenceNumber].signedNumber(-1);
    made.forwardThread = event[ArgKey::ForwardThread].number();
    made.arguments = opArguments(event);
}

void KinetoBuilder::addRange(const EventText& event, RowUse use, Span span)
{
    HostEvent& made = m_chunk.host.emplace_back();
    made.startNs = span.startNs;
    made.durNs = span.durNs;
    made.track = use == RowUse::DeviceRanges ? deviceRow(event, use) : row(event, use);
    made.kind = HostKind::Range;
    made.name = name(event[EventKey::Name], NameKind::Range);
    made.externalId = event[ArgKey::ExternalId].number();
}

void KinetoBuilder::addInstant(const EventText& event)
{
    const std::string_view name = event[EventKey::Name].unquoted();
    if (name == "Record Window End" || name.starts_with("Iteration Start"))
        return countOddity(m_chunk.oddities, kProfilerMark);
    const std::optional<std::int64_t> ns = timeOf(event);
    if (!ns)
        return;
    if (name == "[memory]")
        return addMemory(event, *ns);
    addRange(event, RowUse::Marks, {*ns, 0});
}

std::uint32_t KinetoBuilder::memoryRow(const EventText& event, const char* what, RowUse use)
{
    const std::int64_t type = event[ArgKey::MemoryDeviceType].signedNumber();
    const std::int64_t device = event[ArgKey::MemoryDevice].signedNumber(-1);
    RowKey key{partOf(event[EventKey::Pid]), {}, use};
    key.tid.word = type == 0 ? std::string("CPU memory ") : "GPU " + std::to_string(device) + " memory ";
    key.tid.word += what;
    const std::uint32_t id = row(std::move(key));
    if (type != 0)
        m_chunk.rows[id].device = device;
    return id;
}

void KinetoBuilder::addMemory(const EventText& event, std::int64_t ns)
{
    const RawValue& allocated = event[ArgKey::MemoryAllocated];
    const RawValue& reserved = event[ArgKey::MemoryReserved];
    ++m_chunk.knownCategories;
    const auto sample = [&](std::uint32_t row, const RawValue& value) {
        m_chunk.samples.push_back({TrackId(row), ns, static_cast<double>(value.signedNumber())});
    };
    if (allocated.isNumber())
        sample(memoryRow(event, "allocated", RowUse::Counter), allocated);
    if (reserved.isNumber())
        sample(memoryRow(event, "reserved", RowUse::Counter), reserved);
    if (!allocated.isNumber() && !reserved.isNumber())
        sample(memoryRow(event, "since the start", RowUse::Changes), event[ArgKey::MemoryBytes]);
}

void KinetoBuilder::addCounter(const EventText& event, std::string_view quotedKey, std::string_view value)
{
    const std::optional<std::int64_t> ns = timeOf(event);
    if (!ns)
        return;
    double number = 0;
    value = RawValue{value}.unquoted();
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
        return countOddity(m_chunk.oddities, kBadCounter);
    const std::string key = unescapedJson(quotedKey);
    std::string name = unescapedJson(event[EventKey::Name].text);
    if (!key.empty() && key != name && key != "value")
        name += (name.empty() ? "" : " ") + key;
    RowKey row{partOf(event[EventKey::Pid]), {0, std::move(name)}, RowUse::Counter};
    m_chunk.samples.push_back({TrackId(this->row(std::move(row))), *ns, number});
}

void KinetoBuilder::addFlow(const EventText& event, bool begins)
{
    const std::string_view category = event[EventKey::Category].unquoted();
    const FlowKind kind = flowKindOf(category);
    if (kind == FlowKind::Unknown)
        return countOddity(m_chunk.oddities, kUnknownFlow, category.empty() ? "none" : category);
    const std::uint64_t id = event[EventKey::Id].number();
    const bool said = kind == FlowKind::Launch && id != 0 && id == m_last.correlation &&
                      event[EventKey::Ts].text == m_last.ts && event[EventKey::Tid].unquoted() == m_last.tid &&
                      event[EventKey::Pid].unquoted() == m_last.pid;
    if (said)
        return;
    const std::optional<std::int64_t> ns = timeOf(event);
    if (!ns)
        return;
    m_chunk.flows.push_back({.kind = kind == FlowKind::Launch ? Flow::Kind::Launch : Flow::Kind::ForwardBackward,
                             .id = id,
                             .begins = begins,
                             .track = row(event, RowUse::Either),
                             .timeNs = *ns});
}

void KinetoBuilder::addBoundary(const EventText& event, bool begins, bool async)
{
    const std::optional<std::int64_t> ns = timeOf(event);
    if (!ns)
        return;
    Boundary boundary{.ns = *ns, .begins = begins};
    if (async) {
        const std::string category = unescapedJson(event[EventKey::Category].text);
        boundary.row =
            row({partOf(event[EventKey::Pid]), {0, category.empty() ? "async" : "async " + category}, RowUse::Marks});
        const RawValue& id = event[EventKey::Id];
        const std::uint64_t number = id.isNumber() ? id.number() : std::hash<std::string_view>()(id.unquoted());
        boundary.id = mixed(number, 1) | 1U;  // never 0, which is B and E
    } else {
        boundary.row = row(event, RowUse::Marks);
    }
    boundary.name = name(event[EventKey::Name], NameKind::Range);
    m_chunk.boundaries.push_back(boundary);
}

void KinetoBuilder::addRowName(const EventText& event)
{
    const std::string_view what = event[EventKey::Name].unquoted();
    RowNameKey key{.pid = partOf(event[EventKey::Pid]), .tid = {}};
    RawValue text = event[ArgKey::NameOfRow];
    if (what == "thread_name") {
        key.of = RowNameKey::Of::Thread;
        key.tid = partOf(event[EventKey::Tid]);
    } else if (what == "process_labels") {
        key.of = RowNameKey::Of::Labels;
        text = event[ArgKey::LabelsOfRow];
    } else if (what != "process_name") {
        return;  // how to sort rows, which is said by their numbers
    }
    if (text.said())
        m_chunk.rowNames.insert_or_assign(std::move(key), unescapedJson(text.text));
}

}  // namespace fp8scope::import
