// SPDX-License-Identifier: Apache-2.0
// The names of cuBLASLt's own GEMM kernels, by their grammar:
// nvjet_[smNN_]<types>[_tf32]_<tile>_<K block>x<stages>_<cluster>[_2cta]_<raster>_<bz|badd>[_<variant>...]_<layouts>
#pragma once

#include "app/analysis/classify/element_types.h"
#include "collector/trace/words.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fp8scope::analysis {

enum class NvjetScaling : std::uint8_t {
    None,
    Tensorwise,   ///< fp8 operands without a mark: one scale a tensor
    OuterVector,  ///< "ovscale": a scale a row and column
    Block128,     ///< "Avec128", "Bblk128": 1x128 and 128x128 blocks, as DeepSeek-V3's
    Mxfp8,        ///< "Avec32UE8M0"
    Nvfp4,        ///< "Avec16UE4M3"
};

struct NvjetName {
    std::string_view arch;  ///< "sm90"; empty in names of cuBLAS before 13.1
    GemmTypes types;
    std::int32_t tileM = 0, tileN = 0;  ///< column-major: N of a row-major GEMM first
    std::int32_t tileK = 0, stages = 0;
    std::int32_t clusterM = 0, clusterN = 0;
    bool twoSm = false;        ///< "2cta": two SMs share a matrix instruction
    bool accumulates = false;  ///< "badd": beta is not 0, as in a weight gradient added to the main gradient
    bool splitK = false;       ///< a splitKreduce_kernel follows
    bool grouped = false;      ///< "ptrGroup"
    NvjetScaling scaling = NvjetScaling::None;
    RoleSet epilogue{};        ///< of bias, activation, activation_grad, bias_grad
    std::string_view layouts;  ///< "TNT": op(A), op(B), order
};

/// nullopt for a name that does not follow the grammar up to its type tag. Of a shortened name
/// ("nvjet_sss_tf32_128x256") the fields that are missing stay 0.
[[nodiscard]] std::optional<NvjetName> parseNvjetName(std::string_view);

}  // namespace fp8scope::analysis
