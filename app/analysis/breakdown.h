// SPDX-License-Identifier: Apache-2.0
// Where a step's time goes: exposed time (each instant belongs to exactly one slice) and busy time, by any key.
#pragma once

#include "app/analysis/repeats.h"
#include "app/analysis/slice_families.h"
#include "app/analysis/steps.h"
#include "collector/trace/trace.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fp8scope::analysis {

/// The family of a slice: its op's role and operand types where it has an op, else its name's.
[[nodiscard]] Family familyOfSlice(const Trace&, const Track&, std::size_t index);

/// The part of [startNs, endNs) in which a slice is the one that counts: by priority GEMM, other compute,
/// communication, memory operations; among equals the one that started first. What no slice covers is idle. Over the
/// result and `idleNs`, the sum is endNs - startNs exactly.
struct ExposedSlice {
    SliceRef slice;
    std::int64_t exposedNs = 0;
    std::int64_t busyNs = 0;  ///< duration inside the range
};
struct Gap {
    std::int64_t startNs = 0, endNs = 0;
};
struct Exposure {
    std::vector<ExposedSlice> slices;  ///< every slice of the run's device queues that touches the range
    std::int64_t idleNs = 0;           ///< a slice that only waits (Role::Sync) covers nothing
    std::vector<Gap> gaps;             ///< the idle stretches, in time order; they add up to idleNs
};
[[nodiscard]] Exposure exposedTime(const Trace&, RunId, std::int64_t startNs, std::int64_t endNs);

/// Shares `total` in proportion to `weights` so that the parts add up to it exactly (largest remainder). All zero: all
/// parts 0 but the last, which gets `total`.
[[nodiscard]] std::vector<std::int64_t> apportion(std::int64_t total, std::span<const std::int64_t> weights);

struct TimePair {
    std::int64_t exposedNs = 0;
    std::int64_t busyNs = 0;
};

struct LayerTime {
    LayerId layer;                                                                ///< none(): ops of no layer, and idle
    std::array<std::array<std::int64_t, kFamilyCount>, kPhaseCount> exposedNs{};  ///< [phase][family]
    [[nodiscard]] std::int64_t total() const;
    [[nodiscard]] std::int64_t family(Family) const;
    [[nodiscard]] std::int64_t phase(Phase) const;
};

/// One distinct kernel (op) name of a run, per step.
struct KernelTime {
    NameId name;
    OpId op;  ///< the op, when all its slices are of one; else none()
    Role role = Role::Other;
    Family family = Family::Unknown;
    double countPerStep = 0;
    std::int64_t exposedNs = 0, busyNs = 0;                      ///< per step
    std::int64_t medianNs = 0, p95Ns = 0, minNs = 0, maxNs = 0;  ///< of one slice
    double flopsPerSecond = 0, bytesPerSecond = 0;               ///< achieved; 0 where the op is unknown
    SliceRef slowest;
};

/// One op (or one kernel name without an op) of a run, per step: the finest cells, of which all other tables are sums.
struct OpTime {
    NameId name;
    OpId op;
    Role role = Role::Other;
    Family family = Family::Unknown;
    double countPerStep = 0;
    std::int64_t exposedNs = 0, busyNs = 0;  ///< per step
    SliceRef slowest;
};

/// A run's typical step. Shares come from the middle half of the used steps by duration; they are apportioned over the
/// median step, so all exposed times add up to `stepNs` exactly: families, [phase][family] of the layers, and kernels +
/// idle.
struct Breakdown {
    RunId run;
    std::string mode;
    Origin origin = Origin::MeasuredCpu;
    StepSummary steps;
    std::int64_t stepNs = 0;
    std::array<TimePair, kFamilyCount> families{};
    std::array<TimePair, kRoleCount> roles{};         ///< idle is not a role
    std::array<std::int64_t, kPhaseCount> phaseNs{};  ///< exposed; idle counts to Phase::Other
    std::vector<LayerTime> layers;                    ///< by layer index, the layerless last
    std::vector<KernelTime> kernels;                  ///< by exposed time, largest first
    std::vector<OpTime> ops;            ///< in the order of first appearance; exposed times and idle add up to stepNs
    double gemmFlopsPerSecond = 0;      ///< FLOPs of all GEMMs over their busy time
    double stepFlops = 0;               ///< GEMM FLOPs of a step
    double quantizationTax = 0;         ///< exposed Quantization / step
    double quantizationPerFp8Gemm = 0;  ///< T_q / T_g8, busy; 0 without fp8 GEMMs
    double classifiedShare = 1;         ///< share of busy device time whose family is known
    std::array<std::int64_t, kClassifiedByCount> classifiedNs{};  ///< busy, by what told: see ClassifiedBy
    std::int64_t longestIdleNs = 0;                               ///< longest gap inside a used step
    std::uint64_t launchesPerStep = 0;
    [[nodiscard]] const TimePair& operator[](Family f) const { return families[static_cast<std::size_t>(f)]; }
};

/// Of a run without used steps, stepNs is 0 and all tables are empty.
[[nodiscard]] Breakdown breakdown(const Trace&, RunId, StepLimit = {});
/// Of runs that repeat each other: the median step of all of them, with the shares of the typical one.
[[nodiscard]] Breakdown breakdown(const Trace&, const RunGroup&);
/// One a mode, in order; a crowd of variants is left to the ablation (see repeats.h).
[[nodiscard]] std::vector<Breakdown> breakdowns(const Trace&, StepLimit = {});

}  // namespace fp8scope::analysis
