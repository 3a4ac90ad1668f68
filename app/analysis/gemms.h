// SPDX-License-Identifier: Apache-2.0
// The bill of each matrix product: its time, its rate, and the quantization that it needs to be fp8.
#pragma once

#include "app/analysis/breakdown.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::analysis {

/// A quantization kernel and the product that takes its result.
struct Feed {
    SliceRef quantization;
    SliceRef gemm;
};

/// Each quantization slice of a run belongs to the next fp8 product after it: of the same layer (or the layer around
/// its own) where both are known, else on the same queue. What is quantized once for two products (dY for dgrad and
/// wgrad) belongs to the first. Slices that no product follows are not in the list.
[[nodiscard]] std::vector<Feed> quantizationFeeds(const Trace&, RunId);

/// Products of a run that are alike: same layer, phase, shape, types and kernel where the trace tells them.
struct GemmBill {
    LayerId layer;
    Phase phase = Phase::Other;
    std::int64_t m = 0, n = 0, k = 0;  ///< 0 where unknown
    std::string types;                 ///< "e4m3 x e5m2"; by the kernel's name ("fp8") where no op tells; may be empty
    Family family = Family::GemmOther;
    NameId kernel;
    double countPerStep = 0;
    std::int64_t gemmNs = 0;          ///< busy time a step
    std::int64_t quantizationNs = 0;  ///< busy time a step of what feeds it
    double flopsPerSecond = 0;        ///< of the product alone; 0 where its shape is unknown
    SliceRef slowest;
    /// The tax of this product: T_q / T_g8.
    [[nodiscard]] double tax() const
    {
        return gemmNs > 0 ? static_cast<double>(quantizationNs) / static_cast<double>(gemmNs) : 0;
    }
};

struct GemmTable {
    std::vector<GemmBill> gemms;      ///< most time (with its quantization) first
    std::int64_t quantizationNs = 0;  ///< all of it, a step
    std::int64_t unattachedNs = 0;    ///< part of it that feeds no fp8 product (attention, collectives, caches)
};

/// Averages over the steps that the breakdown used. Empty without steps.
[[nodiscard]] GemmTable gemmTable(const Trace&, const Breakdown&);

}  // namespace fp8scope::analysis
