// SPDX-License-Identifier: Apache-2.0
#include "collector/import/nsys_target.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::import {
namespace {

/// Ada, Hopper and later have fp8 tensor cores.
bool hasFp8(std::int64_t major, std::int64_t minor) { return major > 8 || (major == 8 && minor >= 9); }

Device gpuNamed(std::string name, std::int64_t major, std::int64_t minor)
{
    Device device;
    device.name = std::move(name);
    device.kind = "gpu";
    if (major > 0)
        device.arch = fmt::format("sm_{}{}", major, minor);
    device.hasFp8 = hasFp8(major, minor);
    return device;
}

}  // namespace

void NsysTarget::read()
{
    readGpus();
    readGpusOf2021();
    readNames();
}

void NsysTarget::readGpus()
{
    if (const NsysTable* const table = m_db.find("TARGET_INFO_GPU")) {
        NsysRows rows(m_db, *table);
        const auto id = rows.column("id"), name = rows.column("name"), ordinal = rows.column("cuDevice");
        const auto memory = rows.column("totalMemory"), bandwidth = rows.column("memoryBandwidth");
        const auto units = rows.column("smCount");
        const auto major = rows.column("computeMajor"), minor = rows.column("computeMinor");
        while (rows.next()) {
            Gpu gpu{rows.integer(id), rows.isNull(ordinal) ? -1 : rows.integer(ordinal),
                    gpuNamed(rows.text(name), rows.integer(major), rows.integer(minor))};
            gpu.device.units = static_cast<std::int32_t>(rows.integer(units));
            gpu.device.memoryBytes = rows.id(memory);
            gpu.device.peakBandwidth = static_cast<double>(std::max<std::int64_t>(rows.integer(bandwidth), 0));
            m_gpus.push_back(std::move(gpu));
        }
    }
    if (const NsysTable* const table = m_db.find("TARGET_INFO_CUDA_DEVICE")) {
        NsysRows rows(m_db, *table);
        const auto gpuId = rows.column("gpuId"), ordinal = rows.column("cudaId"), pid = rows.column("pid");
        while (rows.next())
            m_cudaDevices.push_back({rows.integer(pid), rows.integer(ordinal), rows.integer(gpuId)});
    }
}

/// One row for each process and device; memory in MiB where later tables have bytes.
void NsysTarget::readGpusOf2021()
{
    const NsysTable* const table = m_db.find("TARGET_INFO_CUDA_GPU");
    if (table == nullptr || !m_gpus.empty())
        return;
    NsysRows rows(m_db, *table);
    const auto ordinal = rows.column("deviceId"), name = rows.column("name"), units = rows.column("numMultiprocessors");
    const auto major = rows.column("computeCapabilityMajor"), minor = rows.column("computeCapabilityMinor");
    const auto memory = rows.column("globalMemorySize");
    while (rows.next()) {
        const std::int64_t id = rows.integer(ordinal);
        if (std::any_of(m_gpus.begin(), m_gpus.end(), [&](const Gpu& gpu) { return gpu.id == id; }))
            continue;
        Gpu gpu{id, id, gpuNamed(rows.text(name), rows.integer(major), rows.integer(minor))};
        gpu.device.units = static_cast<std::int32_t>(rows.integer(units));
        gpu.device.memoryBytes = rows.id(memory) << 20;
        m_gpus.push_back(std::move(gpu));
    }
}

void NsysTarget::readNames()
{
    if (const NsysTable* const table = m_db.find("PROCESSES")) {
        NsysRows rows(m_db, *table);
        const auto id = rows.column("globalPid"), name = rows.column("name");
        while (rows.next())
            m_processNames.try_emplace(NsysGlobalId{rows.id(id)}.process(), rows.text(name));
    }
    if (const NsysTable* const table = m_db.find("ThreadNames")) {
        NsysRows rows(m_db, *table);
        const auto id = rows.column("globalTid"), name = rows.column("nameId");
        while (rows.next())
            if (const auto text = m_db.string(rows.integer(name)))
                m_threadNames.insert_or_assign(rows.id(id), *text);
    }
}

ProcessId NsysTarget::process(NsysGlobalId id)
{
    const auto [at, isNew] =
        m_processes.try_emplace(id.process(), static_cast<std::uint32_t>(m_events.processes.size()));
    if (isNew) {
        if (m_events.processes.empty())
            m_first = id;
        const auto name = m_processNames.find(id.process());
        Process process;
        process.pid = id.pid();
        process.name = name != m_processNames.end() ? name->second : fmt::format("process {}", id.pid());
        m_events.processes.push_back(std::move(process));
    }
    return at->second;
}

DeviceId NsysTarget::deviceOf(const Gpu& gpu)
{
    const auto [at, isNew] = m_devices.try_emplace(gpu.id, static_cast<std::uint32_t>(m_events.devices.size()));
    if (isNew)
        m_events.devices.push_back(gpu.device);
    return at->second;
}

/// By the process' own numbering where the file has it, else by CUDA's, else by nsys'. The three differ: on one machine
/// nsys' GPU 0 is CUDA's device 3.
DeviceId NsysTarget::device(NsysGlobalId process, std::int64_t ordinal)
{
    const auto withId = [&](std::int64_t id) {
        return std::find_if(m_gpus.begin(), m_gpus.end(), [&](const Gpu& gpu) { return gpu.id == id; });
    };
    for (const CudaDevice& cuda : m_cudaDevices)
        if (cuda.pid == process.pid() && cuda.ordinal == ordinal)
            if (const auto gpu = withId(cuda.gpuId); gpu != m_gpus.end())
                return deviceOf(*gpu);
    const auto numbered =
        std::find_if(m_gpus.begin(), m_gpus.end(), [&](const Gpu& gpu) { return gpu.ordinal == ordinal; });
    if (numbered != m_gpus.end())
        return deviceOf(*numbered);
    if (const auto gpu = withId(ordinal); gpu != m_gpus.end() && gpu->ordinal < 0)
        return deviceOf(*gpu);
    const auto [at, isNew] = m_unknownDevices.try_emplace(ordinal, static_cast<std::uint32_t>(m_events.devices.size()));
    if (isNew)
        m_events.devices.push_back(gpuNamed(fmt::format("GPU {} (its name is not in the file)", ordinal), 0, 0));
    return at->second;
}

std::uint32_t NsysTarget::addTrack(ProcessId process, DeviceId device, TrackKind kind, std::string name,
                                   std::uint64_t thread)
{
    RawTrack track;
    track.track.process = process;
    track.track.device = device;
    track.track.kind = kind;
    track.track.name = std::move(name);
    track.thread = thread;
    m_events.tracks.push_back(std::move(track));
    return static_cast<std::uint32_t>(m_events.tracks.size() - 1);
}

std::uint32_t NsysTarget::thread(NsysGlobalId id)
{
    const auto [at, isNew] = m_threads.try_emplace(id.value, 0);
    if (isNew)
        at->second =
            addTrack(process(id), DeviceId::none(), TrackKind::CpuThread, fmt::format("thread {}", id.tid()), id.tid());
    return at->second;
}

std::uint32_t NsysTarget::processRanges(NsysGlobalId id)
{
    const auto [at, isNew] = m_ranges.try_emplace(id.process(), 0);
    if (isNew)
        at->second = addTrack(process(id), DeviceId::none(), TrackKind::Annotation, "NVTX start-end ranges", 0);
    return at->second;
}

NsysGlobalId NsysTarget::processOf(const Queue& queue)
{
    if (queue.process.value != 0 || m_processes.empty())
        return queue.process;
    if (m_processes.size() > 1)
        ++m_ambiguous;
    return m_first;
}

std::uint32_t NsysTarget::queue(const Queue& queue)
{
    const auto [at, isNew] = m_queues.try_emplace(queue, 0);
    if (isNew) {
        const NsysGlobalId owner = processOf(queue);
        m_deviceOfContext.try_emplace({queue.process.value, queue.context}, queue.device);
        at->second = addTrack(process(owner), device(owner, queue.device), TrackKind::DeviceQueue,
                              fmt::format("GPU {} stream {}", queue.device, queue.stream),
                              static_cast<std::uint64_t>(queue.stream));
    }
    return at->second;
}

/// The device is the context's: rows of waits have been seen with device 0 for a context of device 1.
std::uint32_t NsysTarget::waits(const Queue& queue)
{
    const auto known = m_deviceOfContext.find({queue.process.value, queue.context});
    const std::int64_t ordinal = known != m_deviceOfContext.end() ? known->second : queue.device;
    const auto [at, isNew] = m_waits.try_emplace(Queue{queue.process, ordinal, 0, 0}, 0);
    if (isNew) {
        const NsysGlobalId owner = processOf(queue);
        at->second = addTrack(process(owner), device(owner, ordinal), TrackKind::Annotation,
                              fmt::format("GPU {} waits", ordinal), UINT64_MAX);
    }
    return at->second;
}

std::uint32_t NsysTarget::counter(std::int64_t gpuId, const std::string& name)
{
    const auto [at, isNew] = m_counters.try_emplace({gpuId, name}, 0);
    if (isNew) {
        const auto gpu = std::find_if(m_gpus.begin(), m_gpus.end(), [&](const Gpu& g) { return g.id == gpuId; });
        const DeviceId device = gpu != m_gpus.end() ? deviceOf(*gpu) : DeviceId::none();
        at->second = addTrack(process(m_first), device, TrackKind::Counter, name, 0);
    }
    return at->second;
}

void NsysTarget::finish()
{
    for (const auto& [id, track] : m_threads)
        if (const auto name = m_threadNames.find(id); name != m_threadNames.end() && !name->second.empty())
            m_events.tracks[track].track.name = fmt::format("thread {} ({})", NsysGlobalId{id}.tid(), name->second);
}

}  // namespace fp8scope::import
