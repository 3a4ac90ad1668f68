// SPDX-License-Identifier: Apache-2.0
// Tracks on the wire, and the slices that wait to be sent on each.
#pragma once

#include "collector/wire/encoder.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8scope::inject {

/// A device as CUPTI's record of it says.
struct DeviceFacts {
    std::string name;
    std::string arch;  ///< "sm_90"
    std::int32_t multiprocessors = 0;
    std::uint64_t memoryBytes = 0;
    double bandwidth = 0;  ///< bytes/s
    bool hasFp8 = false;
};

/// Of one connection and one thread.
class TrackTable {
public:
    explicit TrackTable(wire::Encoder& encoder) : m_encoder(encoder) {}

    /// What is known of a device, told before its first track; later ones change nothing.
    void describe(std::uint32_t device, DeviceFacts facts) { m_facts.try_emplace(device, std::move(facts)); }

    void addToQueue(std::uint32_t device, std::uint32_t context, std::uint32_t stream, const wire::Slice&);
    void addToThread(std::uint32_t thread, const wire::Slice&);
    void addToRanges(std::uint32_t thread, const wire::Slice&);
    /// Waits of the host for the device, by CUDA context.
    void addToWaits(std::uint32_t context, const wire::Slice&);
    void addToProfiler(const wire::Slice&);
    void addSample(std::uint32_t device, std::int64_t timeNs, double value);

    /// Encodes all waiting slices.
    void encodePending();

private:
    enum class Row : std::uint8_t { Queue, Thread, Ranges, Waits, Profiler, Counter };
    struct Key {
        Row row = Row::Queue;
        std::uint32_t a = 0, b = 0, c = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct OpenTrack {
        wire::LocalTrack track;
        std::vector<wire::Slice> slices;
    };

    OpenTrack& open(const Key&);
    [[nodiscard]] wire::Track describe(const Key&);
    [[nodiscard]] wire::LocalDevice device(std::uint32_t index);

    wire::Encoder& m_encoder;
    std::unordered_map<Key, std::size_t, KeyHash> m_index;
    std::vector<OpenTrack> m_tracks;
    Key m_lastKey;
    std::size_t m_last = SIZE_MAX;
    std::unordered_map<std::uint32_t, DeviceFacts> m_facts;
    std::unordered_map<std::uint32_t, wire::LocalDevice> m_devices;
    std::unordered_map<std::uint32_t, std::uint32_t> m_firstContext;  ///< by device: needs no mention in names
};

}  // namespace fp8scope::inject
