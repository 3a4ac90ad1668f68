// SPDX-License-Identifier: Apache-2.0
// Finds the constants of the model from measured times. What is minimized is the error of the logarithm, robustly, so
// that a GEMM of 5 us counts as much as one of 5 ms and an outlier of a benchmark little.
#pragma once

#include "engine/predict/device.h"
#include "engine/predict/memory_model.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fp8scope::predict {

/// A measured time: a GEMM alone, or with the quantizer of A[m, k] before it.
struct MeasuredGemm {
    GemmShape shape;
    double us = 0;
    Clock clock = Clock::Burst;
    std::optional<QuantizerKind> quantizer;
};

struct MeasuredQuantizer {
    std::int64_t m = 0, k = 0;
    double us = 0;
};

/// The constants of one kind of GEMM and of the quantizer that ran with it.
struct GemmFit {
    GemmConstants gemm;
    QuantizerConstants quantizer;
};

/// The time that a fit gives a measured row; `cast` is the quantizer of rows with QuantizerKind::Cast.
[[nodiscard]] double fittedUs(const GemmMachine&, const GemmFit&, const QuantizerConstants& cast, const MeasuredGemm&);

/// Starts from `start`; constants named in `keep` stay. The quantizer's constants are fitted only if a row has one that
/// is not a plain cast. `steady` is fitted only if rows were measured at the steady clock.
[[nodiscard]] GemmFit fitGemm(const GemmMachine&, std::span<const MeasuredGemm>, const GemmFit& start,
                              const QuantizerConstants& cast, std::span<const std::string_view> keep = {});

[[nodiscard]] QuantizerConstants fitQuantizer(const GemmMachine&, QuantizerKind, std::span<const MeasuredQuantizer>,
                                              const QuantizerConstants& start);

/// Median and 90th percentile of |predicted / measured - 1|.
struct ErrorSummary {
    double median = 0, p90 = 0;
    int rows = 0;
};
[[nodiscard]] ErrorSummary summarize(std::vector<double> relativeErrors);

/// The constants of a device as the [[fit]] table that DeviceTable::add reads.
[[nodiscard]] std::string fitsToToml(const DeviceModel&);
/// The specification as a [[device]] table.
[[nodiscard]] std::string specToToml(const DeviceSpec&);

}  // namespace fp8scope::predict
