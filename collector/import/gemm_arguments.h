// SPDX-License-Identifier: Apache-2.0
// A matrix product's M, N, K and types from what its op was called with.
#pragma once

#include "collector/import/raw_events.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::import {

/// Row-major Y[m,n] = X[m,k] W; `batch` of them.
struct GemmArguments {
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t batch = 1;
    std::string aType, bType, dType;  ///< "e4m3", "bf16", ...; dType empty where the op does not say it
    std::string recipe;    ///< "tensorwise", "rowwise", "blockwise", "mxfp8" by the scales' shapes, else empty
    std::string epilogue;  ///< "bias", "relu_bias"; empty without
    bool firstIsTransposed = false;  ///< X is read along its columns: typical of a weight's gradient
    [[nodiscard]] double flops() const;
    [[nodiscard]] std::uint64_t leastBytes() const;  ///< both operands read and the result written once
};

/// nullopt for ops that are no matrix product, or whose shapes are not there or do not fit.
[[nodiscard]] std::optional<GemmArguments> gemmOf(std::string_view op, const Arguments&);
/// Whether an op of this name is a matrix product, whatever it was called with.
[[nodiscard]] bool isGemmOp(std::string_view op);

/// "[[4096, 4096], [], [128]]": one shape an operand; scalars and tensor lists are empty.
[[nodiscard]] std::vector<std::vector<std::int64_t>> parseShapes(std::string_view text);
/// "[\"c10::BFloat16\", \"Scalar\"]".
[[nodiscard]] std::vector<std::string> parseTypes(std::string_view text);
/// PyTorch's spelling as fp8scope's: "c10::Float8_e4m3fn" is "e4m3"; empty for what is no element type.
[[nodiscard]] std::string_view elementType(std::string_view pytorchType);

}  // namespace fp8scope::import
