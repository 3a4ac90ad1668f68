// SPDX-License-Identifier: Apache-2.0
// How long kernels take that only move bytes: casts, amax, transposes, activations, optimizers.
#pragma once

#include "engine/predict/constants.h"
#include "engine/predict/gemm_model.h"

namespace fp8scope::predict {

struct MemoryTime {
    double us = 0;
    Bound bound = Bound::Memory;
};

/// Quantizes m rows of k bf16 elements.
[[nodiscard]] MemoryTime predictQuantizer(const GemmMachine&, const QuantizerConstants&, QuantizerKind, std::int64_t m,
                                          std::int64_t k);

/// A kernel that streams `bytes`, all reads and writes together. The constants are those of a plain cast kernel, the
/// best measured stream; `fraction` is what this kind of kernel reaches of it (strided stores, atomics, fp32 detours).
[[nodiscard]] MemoryTime predictStream(const GemmMachine&, const QuantizerConstants& cast, double bytes,
                                       double fraction = 1);

}  // namespace fp8scope::predict
