// SPDX-License-Identifier: Apache-2.0
// The measured times that others published (shared/data, not part of the repository), as rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fp8scope::bench {

/// A row of gemm_measured.csv.gz.
struct MeasuredRow {
    std::string device;     ///< an id of resources/devices.toml
    std::string framework;  ///< "TRTLLM" or "SGLang"
    std::string version;
    std::string dtype;  ///< "bfloat16", "fp8", "fp8_static", "fp8_block"
    std::int64_t m = 0, n = 0, k = 0;
    double us = 0;
    bool sustained = false;  ///< measured for so long that the power limit set the clock
};

/// A row of gemm_published.csv; what it does not say is empty or 0.
struct PublishedRow {
    std::string device, library, op, typeA, scaling, extra, source;
    std::int64_t m = 0, n = 0, k = 0;
    double us = 0, powerW = 0;
};

/// Throws Error when the file cannot be read.
[[nodiscard]] std::vector<MeasuredRow> readMeasured(const std::filesystem::path& directory);
[[nodiscard]] std::vector<PublishedRow> readPublished(const std::filesystem::path& directory);

/// Whether the fit may see this pair; the others are what its error is reported on. Deterministic: FNV-1a of "n x k".
[[nodiscard]] bool isTrainingPair(std::int64_t n, std::int64_t k);

}  // namespace fp8scope::bench
