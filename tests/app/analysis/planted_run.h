// SPDX-License-Identifier: Apache-2.0
// Training runs of an MLP with known causes: op by op as the engine would record them, each as long as its bytes or
// FLOPs say. A test plants one cause and knows the truth, because it chose the rates.
#pragma once

#include "tests/support/trace_builder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8scope::test {

struct PlantedModel {
    std::int64_t batch = 16384;
    std::vector<std::int64_t> widths{4096, 4096, 4096, 4096};
    double gemm16FlopsPerSecond = 600e12;
    double fp8Ratio = 2;           ///< how much faster fp8 GEMMs run
    double bytesPerSecond = 3e12;  ///< of every pass that is no GEMM
    std::int64_t scalarNs = 2000;  ///< a kernel on a single number
    std::int64_t optimizerNs = 0;  ///< a layer's update; 0: by its bytes
    std::int64_t gapNs = 0;        ///< idle before each step's first op
    int steps = 12;
};

struct PlantedMode {
    std::string name = "bf16";
    bool fp8 = false;
    bool biasEpilogue = true;
    bool castChain = false, castTranspose = false, dbiasInCast = false, actCast = false;
    double noise = 0.001;  ///< every fourth step takes so much longer, another so much less
};

[[nodiscard]] PlantedMode bf16Mode();
[[nodiscard]] PlantedMode plainFp8Mode();
[[nodiscard]] PlantedMode fusedFp8Mode();

[[nodiscard]] Device h100();
[[nodiscard]] Device cpuWithoutFp8();

/// Adds the run to the builder, after what is there.
void addRun(TraceBuilder&, const PlantedModel&, const PlantedMode&, Origin = Origin::MeasuredGpu);
/// One run a mode on one device.
[[nodiscard]] Trace plantedTrace(const Device&, const PlantedModel&, const std::vector<PlantedMode>&);

}  // namespace fp8scope::test
