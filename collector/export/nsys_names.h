// SPDX-License-Identifier: Apache-2.0
// From names of kernels and copies to the parts that nsys' tables hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fp8scope::exporter {

/// "vectorized_elementwise_kernel" of "void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)".
[[nodiscard]] std::string_view shortKernelName(std::string_view name);

struct CopyKind {
    std::int64_t way = 0;                  ///< ENUM_CUDA_MEMCPY_OPER; 0: unknown
    std::optional<std::int64_t> from, to;  ///< ENUM_CUDA_MEM_KIND
};
/// Of "Memcpy HtoD (Pinned -> Device)".
[[nodiscard]] CopyKind copyKindOf(std::string_view name);
/// Of "Memset (Device)".
[[nodiscard]] std::optional<std::int64_t> memoryKindOf(std::string_view name);
/// ENUM_CUPTI_SYNC_TYPE of "Stream Sync"; 0: unknown.
[[nodiscard]] std::int64_t waitKindOf(std::string_view name);

}  // namespace fp8scope::exporter
