// SPDX-License-Identifier: Apache-2.0
// Whom an nsys export is about: processes, threads and GPUs, found behind nsys' serialized ids and CUDA's own numbers.
#pragma once

#include "collector/import/nsys_database.h"
#include "collector/import/raw_events.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fp8scope::import {

/// `<hardware:8><VM:8><pid:24><tid:24>`, from the highest bits down. Larger pids and tids lose their high bits.
struct NsysGlobalId {
    std::uint64_t value = 0;
    [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(value >> 24 & 0xffffff); }
    [[nodiscard]] std::uint32_t tid() const { return static_cast<std::uint32_t>(value & 0xffffff); }
    [[nodiscard]] std::uint64_t process() const { return value & ~std::uint64_t{0xffffff}; }
};

/// Makes processes, devices and tracks in the events as they are met, so that those of which nothing was recorded (an
/// export names every process of the machine) do not appear.
class NsysTarget {
public:
    NsysTarget(NsysDatabase& db, RawEvents& events) : m_db(db), m_events(events) {}

    /// The tables of GPUs, processes and threads, before anything is asked. Throws NsysDamage; what was read stays.
    void read();

    [[nodiscard]] std::uint32_t thread(NsysGlobalId id);
    /// Ranges of a process that need not nest: those started and ended by hand.
    [[nodiscard]] std::uint32_t processRanges(NsysGlobalId id);

    struct Queue {
        NsysGlobalId process;     ///< 0: the file does not say; the only process, then
        std::int64_t device = 0;  ///< CUDA's ordinal in that process
        std::int64_t context = 0;
        std::int64_t stream = 0;
        friend bool operator==(const Queue& a, const Queue& b)
        {
            return a.process.value == b.process.value && a.device == b.device && a.context == b.context &&
                   a.stream == b.stream;
        }
    };
    [[nodiscard]] std::uint32_t queue(const Queue& queue);
    /// Where a device's waits stand: beside its queues, because they overlap what is waited for.
    [[nodiscard]] std::uint32_t waits(const Queue& queue);
    /// A counter of a GPU, by the id that TARGET_INFO_GPU gives it.
    [[nodiscard]] std::uint32_t counter(std::int64_t gpuId, const std::string& name);

    /// A thread's name by NVTX, which its program chose, beats the system's.
    void nameThread(NsysGlobalId id, const std::string& name) { m_threadNames[id.value] = name; }
    /// Device events that name no process, in a file of several processes.
    [[nodiscard]] std::uint64_t ambiguousQueues() const { return m_ambiguous; }
    /// Gives tracks the names of their threads, once all are known.
    void finish();

private:
    struct Gpu {
        std::int64_t id = -1;
        std::int64_t ordinal = -1;  ///< "cuDevice": of a process that sees all GPUs
        Device device;
    };
    struct CudaDevice {
        std::int64_t pid = 0, ordinal = 0, gpuId = 0;
    };
    struct QueueHash {
        std::size_t operator()(const Queue& q) const noexcept
        {
            std::uint64_t h = q.process.value;
            for (const std::int64_t part : {q.device, q.context, q.stream})
                h = (h ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15U;
            return static_cast<std::size_t>(h ^ h >> 32);
        }
    };
    using QueueTracks = std::unordered_map<Queue, std::uint32_t, QueueHash>;

    void readGpus();
    void readGpusOf2021();
    void readNames();
    ProcessId process(NsysGlobalId id);
    DeviceId device(NsysGlobalId process, std::int64_t ordinal);
    DeviceId deviceOf(const Gpu& gpu);
    std::uint32_t addTrack(ProcessId, DeviceId, TrackKind, std::string name, std::uint64_t thread);
    NsysGlobalId processOf(const Queue& queue);

    NsysDatabase& m_db;
    RawEvents& m_events;
    std::vector<Gpu> m_gpus;
    std::vector<CudaDevice> m_cudaDevices;
    std::unordered_map<std::uint64_t, std::string> m_processNames;
    std::unordered_map<std::uint64_t, std::string> m_threadNames;
    std::unordered_map<std::uint64_t, ProcessId> m_processes;  ///< by global id without tid
    std::unordered_map<std::uint64_t, std::uint32_t> m_threads;
    std::unordered_map<std::uint64_t, std::uint32_t> m_ranges;
    std::map<std::int64_t, DeviceId> m_devices;         ///< by TARGET_INFO_GPU.id
    std::map<std::int64_t, DeviceId> m_unknownDevices;  ///< by CUDA's ordinal
    std::map<std::pair<std::int64_t, std::string>, std::uint32_t> m_counters;
    std::map<std::pair<std::uint64_t, std::int64_t>, std::int64_t> m_deviceOfContext;  ///< by process and context
    QueueTracks m_queues;
    QueueTracks m_waits;
    NsysGlobalId m_first;  ///< the process met first
    std::uint64_t m_ambiguous = 0;
};

}  // namespace fp8scope::import
