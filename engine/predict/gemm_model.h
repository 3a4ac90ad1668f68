// SPDX-License-Identifier: Apache-2.0
// How long a GEMM takes on a GPU: the best of the tiles and split-K factors that its library could have chosen.
//
// For a tile bm x bn and s-fold split-K, ceil(m/bm) ceil(n/bn) s tiles are computed in waves over the SMs. A tile costs
// its main loop, the slowest of arithmetic, loads (per SM, and all SMs from L2) and latency, and its end; a last wave
// that is not full takes as long as a full one. Beside it the operands pass through memory once, and again as far as L2
// does not keep them between waves. Long kernels lose clock to the power limit. Formulas, symbols and sources:
// resources/help/prediction.md.
#pragma once

#include "engine/predict/constants.h"

namespace fp8scope::predict {

/// Row-major D[m, n] = A[m, k] B[n, k]^T.
struct GemmShape {
    std::int64_t m = 0, n = 0, k = 0;
    [[nodiscard]] double flops() const
    {
        return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    }
    friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// What of a device a GEMM of one operand type sees.
struct GemmMachine {
    double sms = 1;
    double peakFlops = 0;  ///< FLOP/s, dense
    double bandwidth = 0;  ///< bytes/s of memory
    double l2Bytes = 0;
    double operandBytes = 2;  ///< an element of A or B
    double resultBytes = 2;   ///< an element of D
};

/// A benchmark starts at the burst clock and throttles as it lasts; a GEMM of a training run finds the clock that the
/// power limit leaves.
enum class Clock : std::uint8_t { Burst, Steady };

/// Why a piece of work takes as long as it does.
enum class Bound : std::uint8_t { Compute, Memory, Launch, Host };

struct GemmTime {
    double us = 0;
    Bound bound = Bound::Compute;
    int tileRows = 0, tileCols = 0, splitK = 1;
    int waves = 1;
    double computeUs = 0;  ///< main loops and tile ends, at the clock that the kernel has
    double memoryUs = 0;   ///< operands and result through memory
};

[[nodiscard]] GemmTime predictGemm(const GemmMachine&, const GemmConstants&, GemmShape, Clock = Clock::Burst);

[[nodiscard]] std::string_view toString(Bound);
[[nodiscard]] std::string_view toString(Clock);

}  // namespace fp8scope::predict
