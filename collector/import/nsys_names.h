// SPDX-License-Identifier: Apache-2.0
// Names that nsys keeps as numbers, in the words that people know from the PyTorch profiler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fp8scope::import {

/// "cudaLaunchKernel" of "cudaLaunchKernel_v7000": nsys appends the version in which a call's interface last changed.
[[nodiscard]] std::string apiName(const std::string& name);

/// "Memcpy HtoD (Pinned -> Device)"; kinds that the file does not tell are left out.
[[nodiscard]] std::string copyName(std::int64_t copyKind, std::optional<std::int64_t> from,
                                   std::optional<std::int64_t> to);
/// "Memset (Device)".
[[nodiscard]] std::string memsetName(std::optional<std::int64_t> memoryKind);
/// "Stream Sync" and the like, of ENUM_CUPTI_SYNC_TYPE.
[[nodiscard]] std::string waitName(std::int64_t syncType);

}  // namespace fp8scope::import
