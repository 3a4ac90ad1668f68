// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records to records on the wire.
#pragma once

#include "collector/inject/cupti_table.h"
#include "collector/inject/name_table.h"
#include "collector/inject/track_table.h"
#include "collector/wire/encoder.h"
#include "collector/wire/injection.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace fp8scope::inject {

/// One instant on CUPTI's clock (CLOCK_REALTIME) and on the trace's (CLOCK_MONOTONIC). Taken with every batch, so that
/// a step of the wall clock moves nothing.
struct ClockPair {
    std::int64_t realtimeNs = 0;
    std::int64_t monotonicNs = 0;
    [[nodiscard]] static ClockPair now();
    [[nodiscard]] std::int64_t toMonotonic(std::uint64_t cuptiNs) const
    {
        return static_cast<std::int64_t>(cuptiNs) - realtimeNs + monotonicNs;
    }
};

/// Of one connection and one thread. The run begins with the first record.
class RecordTranslator {
public:
    RecordTranslator(const CuptiTable&, wire::Encoder&, wire::RunBegin);

    /// Every record of a buffer becomes a slice, a definition, or one count of a diagnostic.
    void translate(std::uint8_t* buffer, std::size_t used, const ClockPair&);
    /// The records of a buffer for which the queue to the recorder has no room: counted by kind.
    void drop(std::uint8_t* buffer, std::size_t used);
    /// What CUPTI says that it dropped itself.
    void noteDroppedByCupti(std::uint64_t records);
    /// Encodes the waiting slices and the counts since the last call.
    void endBatch();
    /// Ends the run, if it began.
    void finish(std::int64_t nowNs);

    [[nodiscard]] bool begun() const { return m_begun; }
    [[nodiscard]] std::uint64_t translated() const { return m_translated; }

private:
    enum class Oddity : std::uint8_t {
        DroppedKernels,
        DroppedOthers,
        DroppedByCupti,
        WithoutTimes,
        Incomplete,
        Backwards,
        UnknownKind,
        OpenRanges,
    };
    static constexpr std::size_t kOddityCount = 8;
    struct OpenRange {
        std::uint64_t startNs = 0;
        std::uint32_t thread = 0;
        std::string text;
    };

    void translate(const CUpti_Activity*);
    void onKernel(const CUpti_ActivityKernel9&);
    void onMemcpy(const CUpti_ActivityMemcpy5&);
    void onPeerCopy(const CUpti_ActivityMemcpyPtoP4&);
    void onMemset(const CUpti_ActivityMemset4&);
    void onApi(const CUpti_ActivityAPI&);
    void onSynchronization(const CUpti_ActivitySynchronization&);
    void onOverhead(const CUpti_ActivityOverhead&);
    void onMarker(const CUpti_ActivityMarker2&);
    void onMemory(const CUpti_ActivityMemory3&);
    void onGraph(const CUpti_ActivityGraphTrace&);
    void onDevice(const CUpti_ActivityDevice4&);

    void begin();
    void count(Oddity oddity, std::uint64_t n = 1) { m_oddities[static_cast<std::size_t>(oddity)] += n; }
    /// False, and counted, if the record has no times to show.
    bool timed(std::uint64_t start, std::uint64_t end, wire::Slice&);
    [[nodiscard]] wire::LocalLaunchShape shape(const CUpti_ActivityKernel9&);

    const CuptiTable& m_cupti;
    wire::Encoder& m_encoder;
    wire::RunBegin m_run;
    NameTable m_names;
    TrackTable m_tracks;
    ClockPair m_clock;
    bool m_begun = false;
    std::uint64_t m_translated = 0;
    std::array<std::uint64_t, kOddityCount> m_oddities{};
    std::unordered_map<std::uint32_t, OpenRange> m_openRanges;         ///< by marker id
    std::unordered_map<std::uint32_t, double> m_allocated;             ///< bytes, by device
    std::unordered_map<std::string, wire::LocalLaunchShape> m_shapes;  ///< by the shape's bytes
    std::pair<std::string, wire::LocalLaunchShape> m_lastShape;        ///< the usual case: the same again
};

/// Calls that ask and do not do, thousands a step in eager frameworks: left out of the trace.
[[nodiscard]] bool isQuery(CUpti_CallbackDomain, CUpti_CallbackId);

}  // namespace fp8scope::inject
