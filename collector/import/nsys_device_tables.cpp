// SPDX-License-Identifier: Apache-2.0
// The tables of an nsys export that tell what devices did.
#include "collector/import/nsys_events.h"
#include "collector/import/nsys_names.h"

#include <algorithm>

namespace fp8scope::import {
namespace {

using Column = NsysRows::Column;

/// Where nsys has numbers of kinds only, exports of fp8scope keep names beside them.
constexpr const char* kOwnName = "nameId";

/// Columns that all device tables have, as far as the file's generation has them.
struct Where {
    explicit Where(NsysRows& rows)
        : start(rows.column("start")), end(rows.column("end")), device(rows.column("deviceId")),
          context(rows.column("contextId")), stream(rows.column("streamId")), correlation(rows.column("correlationId")),
          process(rows.column("globalPid"))
    {}
    [[nodiscard]] NsysTarget::Queue queue(const NsysRows& rows) const
    {
        return {{rows.id(process)}, rows.integer(device), rows.integer(context), rows.integer(stream)};
    }

    Column start, end, device, context, stream, correlation, process;
};

std::uint32_t extent(const NsysRows& rows, Column column)
{
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(rows.integer(column), 0, UINT32_MAX));
}

struct ShapeColumns {
    explicit ShapeColumns(NsysRows& rows)
        : grid{rows.column("gridX"), rows.column("gridY"), rows.column("gridZ")},
          block{rows.column("blockX"), rows.column("blockY"), rows.column("blockZ")}, cluster{rows.column("clusterX"),
                                                                                              rows.column("clusterY"),
                                                                                              rows.column("clusterZ")},
          registers(rows.column("registersPerThread")), staticShared(rows.column("staticSharedMemory")),
          dynamicShared(rows.column("dynamicSharedMemory"))
    {}
    [[nodiscard]] LaunchShape read(const NsysRows& rows) const
    {
        LaunchShape shape;
        for (int axis = 0; axis < 3; ++axis) {
            shape.grid[axis] = extent(rows, grid[axis]);
            shape.block[axis] = extent(rows, block[axis]);
            shape.cluster[axis] = extent(rows, cluster[axis]);
        }
        shape.registers = extent(rows, registers);
        shape.staticShared = extent(rows, staticShared);
        shape.dynamicShared = extent(rows, dynamicShared);
        return shape;
    }

    Column grid[3], block[3], cluster[3], registers, staticShared, dynamicShared;
};

std::optional<std::int64_t> known(const NsysRows& rows, Column column)
{
    return rows.isNull(column) ? std::nullopt : std::optional(rows.integer(column));
}

/// Gives a name to each combination of two or three small numbers once.
class NumberedNames {
public:
    template <typename MakeText>
    NameId get(std::uint64_t key, MakeText&& makeText)
    {
        const auto [at, isNew] = m_names.try_emplace(key);
        if (isNew)
            at->second = makeText();
        return at->second;
    }

private:
    std::unordered_map<std::uint64_t, NameId> m_names;
};

/// The string that a column refers to; none() where it is NULL or not there.
NameId namedBy(NsysEvents& to, const NsysRows& rows, Column stringId, NameKind kind)
{
    return rows.isNull(stringId) ? NameId::none() : to.nameOf(kind, rows.integer(stringId));
}

std::uint64_t keyOf(const NsysRows& rows, std::initializer_list<Column> columns)
{
    std::uint64_t key = 0;
    for (const Column column : columns)
        key = key << 16 | (rows.isNull(column) ? 0xffff : (rows.id(column) & 0x7fff));
    return key;
}

}  // namespace

void readNsysKernels(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("CUPTI_ACTIVITY_KIND_KERNEL");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const Where where(rows);
    const Column fullName = rows.column("demangledName"), shortName = rows.column("shortName");
    const Column graphNode = rows.column("graphNodeId");
    const ShapeColumns shape(rows);
    while (rows.next()) {
        const auto span = to.span(rows, where.start, where.end);
        if (!span)
            continue;
        DeviceEvent& event = to.events.device.emplace_back();
        event.startNs = span->startNs;
        event.durNs = span->durNs;
        event.track = to.target.queue(where.queue(rows));
        event.name = namedBy(to, rows, fullName, NameKind::Kernel);
        if (!event.name.valid())
            event.name = namedBy(to, rows, shortName, NameKind::Kernel);
        if (!event.name.valid()) {
            event.name = to.name(NameKind::Kernel, "(kernel without a name)");
            to.count("name_missing", Severity::DataLoss, "events whose name is not in the file's table of strings");
        }
        event.correlation = rows.id(where.correlation);
        const LaunchShape launched = shape.read(rows);
        if (launched.grid[0] != 0)  // a file of fp8scope may not know it
            event.launchShape = to.launchShape(launched);
        event.graphNode = rows.id(graphNode);
    }
}

/// A graph launch as one box, which is all that nsys records unless --cuda-graph-trace=node was given.
void readNsysGraphs(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const Where where(rows);
    const Column graph = rows.column("graphId"), ownName = rows.column(kOwnName);
    std::uint64_t boxes = 0;
    while (rows.next()) {
        const auto span = to.span(rows, where.start, where.end);
        if (!span)
            continue;
        DeviceEvent& event = to.events.device.emplace_back();
        event.startNs = span->startNs;
        event.durNs = span->durNs;
        event.track = to.target.queue(where.queue(rows));
        event.name = namedBy(to, rows, ownName, NameKind::Graph);
        if (!event.name.valid())
            event.name = to.name(NameKind::Graph, "CUDA graph " + std::to_string(rows.integer(graph)));
        event.correlation = rows.id(where.correlation);
        ++boxes;
    }
    to.count("graph_launch_opaque", Severity::DataLoss,
             "launches of CUDA graphs whose kernels were not recorded; record with `nsys profile "
             "--cuda-graph-trace=node`",
             boxes);
}

void readNsysCopies(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("CUPTI_ACTIVITY_KIND_MEMCPY");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const Where where(rows);
    const Column bytes = rows.column("bytes"), way = rows.column("copyKind");
    const Column from = rows.column("srcKind"), target = rows.column("dstKind"), ownName = rows.column(kOwnName);
    const Column graphNode = rows.column("graphNodeId");
    NumberedNames names;
    while (rows.next()) {
        const auto span = to.span(rows, where.start, where.end);
        if (!span)
            continue;
        DeviceEvent& event = to.events.device.emplace_back();
        event.startNs = span->startNs;
        event.durNs = span->durNs;
        event.track = to.target.queue(where.queue(rows));
        event.name = namedBy(to, rows, ownName, NameKind::Memcpy);
        if (!event.name.valid())
            event.name = names.get(keyOf(rows, {way, from, target}), [&] {
                return to.name(NameKind::Memcpy, copyName(rows.integer(way), known(rows, from), known(rows, target)));
            });
        event.correlation = rows.id(where.correlation);
        event.bytes = rows.id(bytes);
        event.graphNode = rows.id(graphNode);
    }
}

void readNsysMemsets(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("CUPTI_ACTIVITY_KIND_MEMSET");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const Where where(rows);
    const Column bytes = rows.column("bytes"), memory = rows.column("memKind"), ownName = rows.column(kOwnName);
    const Column graphNode = rows.column("graphNodeId");
    NumberedNames names;
    while (rows.next()) {
        const auto span = to.span(rows, where.start, where.end);
        if (!span)
            continue;
        DeviceEvent& event = to.events.device.emplace_back();
        event.startNs = span->startNs;
        event.durNs = span->durNs;
        event.track = to.target.queue(where.queue(rows));
        event.name = namedBy(to, rows, ownName, NameKind::Memset);
        if (!event.name.valid())
            event.name = names.get(keyOf(rows, {memory}),
                                   [&] { return to.name(NameKind::Memset, memsetName(known(rows, memory))); });
        event.correlation = rows.id(where.correlation);
        event.bytes = rows.id(bytes);
        event.graphNode = rows.id(graphNode);
    }
}

void readNsysWaits(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const Where where(rows);
    const Column type = rows.column("syncType"), ownName = rows.column(kOwnName);
    while (rows.next()) {
        const auto span = to.span(rows, where.start, where.end);
        if (!span)
            continue;
        DeviceEvent& event = to.events.device.emplace_back();
        event.startNs = span->startNs;
        event.durNs = span->durNs;
        event.track = to.target.waits(where.queue(rows));
        event.name = namedBy(to, rows, ownName, NameKind::Sync);
        if (!event.name.valid())
            event.name = to.name(NameKind::Sync, waitName(rows.integer(type)));
        event.correlation = rows.id(where.correlation);
    }
}

/// The moment in which a device came to a recorded event; 0 where nsys did not ask for it.
void readNsysCudaEvents(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("CUPTI_ACTIVITY_KIND_CUDA_EVENT");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const Where where(rows);
    const Column time = rows.column("timestamp");
    std::uint64_t untimed = 0;
    while (rows.next()) {
        if (rows.integer(time) == 0) {
            ++untimed;
            continue;
        }
        const auto at = to.instant(rows, time);
        if (!at)
            continue;
        DeviceEvent& event = to.events.device.emplace_back();
        event.startNs = *at;
        event.track = to.target.waits(where.queue(rows));
        event.name = to.name(NameKind::Sync, "CUDA event reached");
        event.correlation = rows.id(where.correlation);
    }
    to.count("cuda_event_untimed", Severity::Info, "CUDA events without a time on the device", untimed);
}

}  // namespace fp8scope::import
