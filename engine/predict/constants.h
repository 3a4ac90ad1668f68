// SPDX-License-Identifier: Apache-2.0
// The few constants of the prediction model, per device and kind of kernel. They are fitted to measurements
// (tests/bench/fit_devices.cpp) or measured here (`fp8scope calibrate`); resources/help/prediction.md explains each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fp8scope::predict {

/// The kinds of GEMM kernels, which libraries write separately: 16 bit, and fp8 by how operands are scaled.
enum class GemmKind : std::uint8_t { Bf16, Tensorwise, Rowwise, Blockwise, Mxfp8 };
inline constexpr int kGemmKinds = 5;

/// The kinds of kernels that quantize one bf16 matrix, by what has to be found first.
enum class QuantizerKind : std::uint8_t {
    Cast,        ///< the scale is known (static, or delayed): one pass, 2 bytes read and 1 written an element
    Tensorwise,  ///< amax of the whole matrix, then the cast: 2 + 2 read, 1 written
    Rowwise,     ///< amax and cast row by row, in one pass
    Blockwise,   ///< amax and cast by 1 x 128 blocks, in one pass
    Mxfp8,       ///< amax and cast by 1 x 32 blocks, in one pass
};
inline constexpr int kQuantizerKinds = 5;

/// One kind of GEMM kernel on one device.
struct GemmConstants {
    double floorUs = 2.2;          ///< an empty kernel: launch on the device, first load, last store
    double peakFraction = 0.85;    ///< of the dense peak that an SM reaches in a main loop that nothing starves
    double sustained = 0.78;       ///< clock of a GEMM that runs long, as a fraction of the burst clock (power limit)
    double throttleUs = 1000;      ///< kernel time at which half of that loss has come
    double steady = 0.78;          ///< clock of a training run at full arithmetic, as a fraction of the burst clock
    double smGBs = 120;            ///< what one SM can load
    double l2GBs = 7000;           ///< what all SMs together can load from L2
    double dramFraction = 0.85;    ///< of the memory's peak bandwidth
    double tileUs = 0.4;           ///< a tile's start and end
    double tileAreaUs = 1.5;       ///< storing a tile of 32,768 elements
    double overlap = 0.4;          ///< part of a tile's end that the SM's next tile hides
    double kStepUs = 0.08;         ///< least time of 128 bytes of k: latency of a main loop too short to hide it
    double splitUs = 2;            ///< split-K: the reduction's start
    double reductionGBs = 3000;    ///< split-K: partial sums written and read
    double l2Share = 0.6;          ///< part of L2 that keeps operands between waves
    double warmShare = 0.2;        ///< part of L2 in which a small A, just written, and a small D stay
    double rereadShare = 0.5;      ///< of operand re-reads that miss L2, the part that reaches memory
    std::string tiles = "simple";  ///< the menu of tiles that the library chooses from (tileMenu)
    int maxSplitK = 32;            ///< 1: kernels without split-K
};

/// Kernels that quantize. E elements in m rows of k: floorUs + (stream^4 + rows^4)^(1/4).
struct QuantizerConstants {
    double floorUs = 4;
    double dramFraction = 0.7;  ///< of the memory's peak, for bytesPerElement
    double l2Boost = 2.5;       ///< how much faster it runs when the matrix is in L2
    double l2Share = 0.5;       ///< part of L2 that counts as "in L2"
    double rowUs = 0.01;        ///< one block of threads goes along a row: its start
    double rowUsPerK = 5e-4;    ///< and each of its k elements
    double rowsPerSm = 4;       ///< blocks that an SM runs at a time
};

/// A constant by name, with the range that a fit may give it.
template <typename Constants>
struct Parameter {
    std::string_view name;
    double Constants::*member;
    double low, high;
};
[[nodiscard]] std::span<const Parameter<GemmConstants>> gemmParameters();
[[nodiscard]] std::span<const Parameter<QuantizerConstants>> quantizerParameters();

/// Bytes that a quantizer moves an element.
[[nodiscard]] double bytesPerElement(QuantizerKind);

[[nodiscard]] std::string_view toString(GemmKind);
[[nodiscard]] std::string_view toString(QuantizerKind);
[[nodiscard]] std::optional<GemmKind> gemmKindFromString(std::string_view);
[[nodiscard]] std::optional<QuantizerKind> quantizerKindFromString(std::string_view);

}  // namespace fp8scope::predict
