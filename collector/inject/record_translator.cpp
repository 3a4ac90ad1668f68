// SPDX-License-Identifier: Apache-2.0
// CUPTI fills the newest struct of the library that is loaded. All of them begin alike, so a record is read as the
// struct of CUDA 12.0, the oldest that is supported: its fields are there in every later one.
#include "collector/inject/record_translator.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

namespace fp8scope::inject {

namespace {

std::int64_t nanoseconds(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// PyTorch's words, which people know.
std::string_view memoryWord(std::uint32_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE: return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY: return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED: return "Managed";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC: return "Device static";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC: return "Managed static";
    default: return "Unknown";
    }
}

std::string_view copyWord(std::uint32_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return "HtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return "AtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA: return "AtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD: return "AtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA: return "DtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return "PtoP";
    default: return "Unknown";
    }
}

std::string copyName(std::uint32_t copyKind, std::uint32_t sourceKind, std::uint32_t targetKind)
{
    std::string name = "Memcpy ";
    name.append(copyWord(copyKind)).append(" (").append(memoryWord(sourceKind)).append(" -> ");
    return name.append(memoryWord(targetKind)).append(")");
}

std::string_view waitWord(CUpti_ActivitySynchronizationType type)
{
    switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE: return "Event synchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT: return "Stream waits for event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE: return "Stream synchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE: return "Context synchronize";
    default: return "Synchronize";
    }
}

std::string_view overheadWord(CUpti_ActivityOverheadKind kind)
{
    switch (static_cast<std::uint32_t>(kind)) {
    case 1: return "Driver compiler";
    case 1U << 16: return "Buffer flush";
    case 2U << 16: return "Instrumentation";
    case 3U << 16: return "Resource";
    case 4U << 16: return "Runtime triggered module loading";
    case 5U << 16: return "Lazy function loading";
    case 6U << 16: return "Command buffer full";
    case 7U << 16: return "Activity buffer request";
    case 8U << 16: return "UVM activity init";
    default: return "Overhead";
    }
}

struct OddityText {
    const char* name;
    Severity severity;
    const char* text;
};
constexpr OddityText kOddityTexts[] = {
    {"records_dropped_kernels", Severity::DataLoss, "kernels were dropped because the recorder could not keep up"},
    {"records_dropped_others", Severity::DataLoss,
     "records but kernels were dropped because the recorder could not keep up"},
    {"records_dropped_cupti", Severity::DataLoss, "records were dropped by CUPTI, whose buffers were full"},
    {"records_without_times", Severity::DataLoss, "device records had no times: CUPTI's device buffers ran out"},
    {"records_incomplete", Severity::DataLoss, "device records had no end: the program ended before their work did"},
    {"records_backwards", Severity::Info, "records ended before they began; they are shown with no duration"},
    {"records_unknown_kind", Severity::Info, "records were of kinds that fp8scope does not know"},
    {"nvtx_ranges_left_open", Severity::Info, "NVTX ranges were never ended and are not shown"},
};

}  // namespace

ClockPair ClockPair::now() { return {nanoseconds(CLOCK_REALTIME), nanoseconds(CLOCK_MONOTONIC)}; }

RecordTranslator::RecordTranslator(const CuptiTable& cupti, wire::Encoder& encoder, wire::RunBegin run)
    : m_cupti(cupti), m_encoder(encoder), m_run(std::move(run)), m_names(cupti, encoder), m_tracks(encoder)
{}

void RecordTranslator::begin()
{
    if (!std::exchange(m_begun, true))
        m_encoder.append(m_run);
}

void RecordTranslator::translate(std::uint8_t* buffer, std::size_t used, const ClockPair& clock)
{
    m_clock = clock;
    CUpti_Activity* record = nullptr;
    while (m_cupti.getNextRecord(buffer, used, &record) == CUPTI_SUCCESS) {
        begin();
        translate(record);
        ++m_translated;
    }
}

void RecordTranslator::drop(std::uint8_t* buffer, std::size_t used)
{
    CUpti_Activity* record = nullptr;
    while (m_cupti.getNextRecord(buffer, used, &record) == CUPTI_SUCCESS) {
        const bool kernel =
            record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL;
        count(kernel ? Oddity::DroppedKernels : Oddity::DroppedOthers);
    }
}

void RecordTranslator::noteDroppedByCupti(std::uint64_t records) { count(Oddity::DroppedByCupti, records); }

void RecordTranslator::endBatch()
{
    m_tracks.encodePending();
    for (std::size_t i = 0; i < kOddityCount; ++i) {
        const std::uint64_t n = std::exchange(m_oddities[i], 0);
        if (n == 0)
            continue;
        begin();
        const OddityText& oddity = kOddityTexts[i];
        m_encoder.append(wire::Diagnostic{oddity.name, oddity.severity, n, oddity.text});
    }
}

void RecordTranslator::finish(std::int64_t nowNs)
{
    count(Oddity::OpenRanges, m_openRanges.size());
    m_openRanges.clear();
    endBatch();
    if (m_begun)
        m_encoder.append(wire::RunEnd{.endNs = nowNs, .complete = true, .note = {}});
}

void RecordTranslator::translate(const CUpti_Activity* record)
{
    const void* at = record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL: return onKernel(*static_cast<const CUpti_ActivityKernel9*>(at));
    case CUPTI_ACTIVITY_KIND_MEMCPY: return onMemcpy(*static_cast<const CUpti_ActivityMemcpy5*>(at));
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return onPeerCopy(*static_cast<const CUpti_ActivityMemcpyPtoP4*>(at));
    case CUPTI_ACTIVITY_KIND_MEMSET: return onMemset(*static_cast<const CUpti_ActivityMemset4*>(at));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return onApi(*static_cast<const CUpti_ActivityAPI*>(at));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return onSynchronization(*static_cast<const CUpti_ActivitySynchronization*>(at));
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return onOverhead(*static_cast<const CUpti_ActivityOverhead*>(at));
    case CUPTI_ACTIVITY_KIND_MARKER: return onMarker(*static_cast<const CUpti_ActivityMarker2*>(at));
    case CUPTI_ACTIVITY_KIND_MEMORY2: return onMemory(*static_cast<const CUpti_ActivityMemory3*>(at));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return onGraph(*static_cast<const CUpti_ActivityGraphTrace*>(at));
    case CUPTI_ACTIVITY_KIND_DEVICE: return onDevice(*static_cast<const CUpti_ActivityDevice4*>(at));
    default: count(Oddity::UnknownKind);
    }
}

bool RecordTranslator::timed(std::uint64_t start, std::uint64_t end, wire::Slice& slice)
{
    if (start == 0 && end == 0) {
        count(Oddity::WithoutTimes);
        return false;
    }
    if (end == 0) {
        count(Oddity::Incomplete);
        return false;
    }
    if (end < start)
        count(Oddity::Backwards);
    slice.startNs = m_clock.toMonotonic(start);
    slice.durNs = end < start ? 0 : static_cast<std::int64_t>(end - start);
    return true;
}

wire::LocalLaunchShape RecordTranslator::shape(const CUpti_ActivityKernel9& kernel)
{
    const std::array<std::int32_t, 12> fields{kernel.gridX,
                                              kernel.gridY,
                                              kernel.gridZ,
                                              kernel.blockX,
                                              kernel.blockY,
                                              kernel.blockZ,
                                              kernel.registersPerThread,
                                              kernel.staticSharedMemory,
                                              kernel.dynamicSharedMemory,
                                              static_cast<std::int32_t>(kernel.clusterX),
                                              static_cast<std::int32_t>(kernel.clusterY),
                                              static_cast<std::int32_t>(kernel.clusterZ)};
    const std::string_view bytes(reinterpret_cast<const char*>(fields.data()), sizeof fields);
    if (m_lastShape.first == bytes)
        return m_lastShape.second;
    const auto [found, isNew] = m_shapes.try_emplace(std::string(bytes));
    if (isNew) {
        const auto field = [&](std::size_t i) { return static_cast<std::uint32_t>(fields[i]); };
        found->second = m_encoder.append(wire::LaunchShape{.grid = {field(0), field(1), field(2)},
                                                           .block = {field(3), field(4), field(5)},
                                                           .cluster = {field(9), field(10), field(11)},
                                                           .registers = field(6),
                                                           .staticShared = field(7),
                                                           .dynamicShared = field(8)});
    }
    m_lastShape = {found->first, found->second};
    return found->second;
}

void RecordTranslator::onKernel(const CUpti_ActivityKernel9& kernel)
{
    wire::Slice slice;
    if (!timed(kernel.start, kernel.end, slice))
        return;
    slice.name = m_names.kernel(kernel.name);
    slice.correlation = kernel.correlationId;
    slice.launchShape = shape(kernel);
    m_tracks.addToQueue(kernel.deviceId, kernel.contextId, kernel.streamId, slice);
}

void RecordTranslator::onMemcpy(const CUpti_ActivityMemcpy5& copy)
{
    wire::Slice slice;
    if (!timed(copy.start, copy.end, slice))
        return;
    slice.name = m_names.plain(copyName(copy.copyKind, copy.srcKind, copy.dstKind), NameKind::Memcpy, Role::Memcpy);
    slice.correlation = copy.correlationId;
    slice.bytes = copy.bytes;
    m_tracks.addToQueue(copy.deviceId, copy.contextId, copy.streamId, slice);
}

void RecordTranslator::onPeerCopy(const CUpti_ActivityMemcpyPtoP4& copy)
{
    wire::Slice slice;
    if (!timed(copy.start, copy.end, slice))
        return;
    slice.name = m_names.plain(copyName(copy.copyKind, copy.srcKind, copy.dstKind), NameKind::Memcpy, Role::Memcpy);
    slice.correlation = copy.correlationId;
    slice.bytes = copy.bytes;
    m_tracks.addToQueue(copy.deviceId, copy.contextId, copy.streamId, slice);
}

void RecordTranslator::onMemset(const CUpti_ActivityMemset4& set)
{
    wire::Slice slice;
    if (!timed(set.start, set.end, slice))
        return;
    const std::string name = std::string("Memset (").append(memoryWord(set.memoryKind)).append(")");
    slice.name = m_names.plain(name, NameKind::Memset, Role::Memset);
    slice.correlation = set.correlationId;
    slice.bytes = set.bytes;
    m_tracks.addToQueue(set.deviceId, set.contextId, set.streamId, slice);
}

void RecordTranslator::onApi(const CUpti_ActivityAPI& call)
{
    const CUpti_CallbackDomain domain =
        call.kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    if (isQuery(domain, call.cbid))
        return;
    wire::Slice slice;
    if (!timed(call.start, call.end, slice))
        return;
    slice.name = m_names.api(domain, call.cbid);
    slice.correlation = call.correlationId;
    m_tracks.addToThread(call.threadId, slice);
}

void RecordTranslator::onSynchronization(const CUpti_ActivitySynchronization& wait)
{
    wire::Slice slice;
    if (!timed(wait.start, wait.end, slice))
        return;
    slice.name = m_names.plain(waitWord(wait.type), NameKind::Sync, Role::Sync);
    slice.correlation = wait.correlationId;
    m_tracks.addToWaits(wait.contextId, slice);
}

void RecordTranslator::onOverhead(const CUpti_ActivityOverhead& overhead)
{
    wire::Slice slice;
    if (!timed(overhead.start, overhead.end, slice))
        return;
    slice.name = m_names.plain(overheadWord(overhead.overheadKind), NameKind::Range);
    m_tracks.addToProfiler(slice);
}

void RecordTranslator::onMarker(const CUpti_ActivityMarker2& marker)
{
    const std::uint32_t thread = marker.objectId.pt.threadId;
    const auto text = [&] { return std::string(marker.name != nullptr ? marker.name : "(range without a name)"); };
    if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
        m_openRanges[marker.id] = {marker.timestamp, thread, text()};
        return;
    }
    wire::Slice slice;
    if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) == 0) {
        if (!timed(marker.timestamp, marker.timestamp, slice))
            return;
        slice.name = m_names.plain(text(), NameKind::Range);
        m_tracks.addToRanges(thread, slice);
        return;
    }
    const auto open = m_openRanges.find(marker.id);
    if (open == m_openRanges.end()) {
        count(Oddity::OpenRanges);  // it began before the recording
        return;
    }
    if (timed(open->second.startNs, marker.timestamp, slice)) {
        slice.name = m_names.plain(open->second.text, NameKind::Range);
        m_tracks.addToRanges(open->second.thread, slice);
    }
    m_openRanges.erase(open);
}

void RecordTranslator::onMemory(const CUpti_ActivityMemory3& memory)
{
    if (memory.memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
        return;
    double& allocated = m_allocated[memory.deviceId];
    const auto bytes = static_cast<double>(memory.bytes);
    allocated += memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION ? bytes : -bytes;
    m_tracks.addSample(memory.deviceId, m_clock.toMonotonic(memory.timestamp), std::max(allocated, 0.0));
}

void RecordTranslator::onGraph(const CUpti_ActivityGraphTrace& graph)
{
    wire::Slice slice;
    if (!timed(graph.start, graph.end, slice))
        return;
    slice.name = m_names.plain("CUDA graph " + std::to_string(graph.graphId), NameKind::Graph);
    slice.correlation = graph.correlationId;
    m_tracks.addToQueue(graph.deviceId, graph.contextId, graph.streamId, slice);
}

void RecordTranslator::onDevice(const CUpti_ActivityDevice4& device)
{
    const std::uint32_t capability = device.computeCapabilityMajor * 10 + device.computeCapabilityMinor;
    m_tracks.describe(device.id, {.name = device.name != nullptr ? device.name : "GPU " + std::to_string(device.id),
                                  .arch = "sm_" + std::to_string(capability),
                                  .multiprocessors = static_cast<std::int32_t>(device.numMultiprocessors),
                                  .memoryBytes = device.globalMemorySize,
                                  .bandwidth = static_cast<double>(device.globalMemoryBandwidth) * 1000,  // kB/s
                                  .hasFp8 = capability >= 89});
}

}  // namespace fp8scope::inject
