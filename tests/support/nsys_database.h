// SPDX-License-Identifier: Apache-2.0
// SQLite exports of Nsight Systems of every schema generation, written from a profiled loop. What a generation did not
// have is not there: tables, columns, even the version.
#pragma once

#include "tests/support/profiled_loop.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace fp8scope::test {

enum class NsysGeneration : std::uint8_t {
    V2021,       ///< no version table, TARGET_INFO_CUDA_GPU, no mangledName
    Schema2_9,   ///< nsys 2022.2: EXPORT_META_DATA, TARGET_INFO_GPU
    Schema3_1,   ///< nsys 2023.2: EXPORT_META_DATA
    Schema3_13,  ///< nsys 2024.5: META_DATA_EXPORT, greenContextId in mid-table
    Schema3_17,  ///< nsys 2025.1: TARGET_INFO_CUDA_DEVICE, copyCount
    Schema3_24,  ///< nsys 2025.5: clusters, graphId, CUPTI_ACTIVITY_KIND_OVERHEAD, timestamps of CUDA events
    Schema3_27,  ///< nsys 2026: table names end in _V2, a TEXT column in the kernels' table
    Minimal,     ///< a hand-made export: no globalPid, no contextId, no eventClass, no event beside kernels, copies and
                 ///< calls
};
[[nodiscard]] std::string_view toString(NsysGeneration);
inline constexpr NsysGeneration kNsysGenerations[] = {
    NsysGeneration::V2021,      NsysGeneration::Schema2_9,  NsysGeneration::Schema3_1,  NsysGeneration::Schema3_13,
    NsysGeneration::Schema3_17, NsysGeneration::Schema3_24, NsysGeneration::Schema3_27, NsysGeneration::Minimal};

struct NsysFile {
    NsysGeneration generation = NsysGeneration::Schema3_24;
    ProfiledLoopShape loop;
    std::uint32_t processes = 1;  ///< each with the loop on a GPU of its own; correlation ids start anew in each
    bool graphTrace = false;      ///< kernels are hidden in graph launches: GRAPH_TRACE instead of KERNEL
    bool onGpu = true;            ///< false: nothing was recorded on a GPU, and DIAGNOSTIC_EVENT says why
    bool userColumns = false;     ///< someone altered the tables
    bool allTables = false;       ///< exported with --lazy=false: empty tables stand there, too
};

inline constexpr std::uint32_t kNsysFirstPid = 4242;
inline constexpr std::int64_t kNsysSessionStartNs = 1'785'620'044'423'518'993;
/// Stands in the environment variables and in the output of the profiled program, which nobody may import.
inline constexpr std::string_view kNsysSecret = "hunter2-do-not-import";

/// Writes the file, replacing one that is there.
void writeNsysDatabase(const std::filesystem::path& path, const NsysFile& file = {});

}  // namespace fp8scope::test
