// SPDX-License-Identifier: Apache-2.0
// The sweep behind exposedTime(), kept ready to be asked for many ranges of one run.
#pragma once

#include "app/analysis/breakdown.h"
#include "app/analysis/slice_families.h"

#include <cstdint>
#include <vector>

namespace fp8scope::analysis {

/// Answers exposedTime() for one run: prepared in O(slices) where slices overlap (else O(tracks)), each range then
/// costs O(log all + n log n) for the n slices in it. Refers to the trace and to the families, which must outlive it.
class ExposureSweep {
public:
    ExposureSweep(const Trace& trace, RunId run, const SliceFamilies& families);
    [[nodiscard]] Exposure over(std::int64_t startNs, std::int64_t endNs) const;

private:
    struct Queue {
        TrackId track;
        const SliceColumns* slices = nullptr;
        std::vector<std::int64_t>
            latestEnd;  ///< latest end of slices 0..i; empty when none overlap (then it is the i-th's)
        [[nodiscard]] std::int64_t latestEndNs(std::size_t i) const
        {
            return latestEnd.empty() ? slices->endNs(i) : latestEnd[i];
        }
    };
    struct Candidate {
        ExposedSlice* result = nullptr;
        std::int64_t sortNs = 0;              ///< the slice's own start: among equals the earlier one counts
        std::int64_t startNs = 0, endNs = 0;  ///< inside the range
        int priority = 0;                     ///< lower counts first
    };
    void collect(const Queue& queue, std::int64_t startNs, std::int64_t endNs, Exposure& exposure) const;
    [[nodiscard]] std::vector<Candidate> candidates(Exposure& exposure, std::int64_t startNs, std::int64_t endNs) const;

    const Trace& m_trace;
    const SliceFamilies& m_families;
    std::vector<Queue> m_queues;
};

}  // namespace fp8scope::analysis
