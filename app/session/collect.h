// SPDX-License-Identifier: Apache-2.0
// Recording somebody else's program: runs a command with the injected library, and writes what its processes do on GPUs
// into one trace.
#pragma once

#include "app/session/child_process.h"
#include "collector/trace/trace.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fp8scope::session {

/// When recording begins.
enum class RecordFrom : std::uint8_t {
    Start,
    Delay,         ///< after CollectRequest::delay
    Command,       ///< when `fp8scope ctl start` says so
    CudaProfiler,  ///< between the program's cudaProfilerStart and cudaProfilerStop
};

struct CollectRequest {
    std::vector<std::string> command;  ///< program, searched in PATH, and its arguments
    std::filesystem::path output;
    bool replace = false;           ///< overwrite an existing file
    std::filesystem::path library;  ///< libfp8scope_inject.so
    std::string cupti;              ///< path of the CUPTI to use; empty: searched
    std::string kinds;              ///< as wire::recordKindsFromString takes; empty: the default ones
    bool graphsAsOne = false;       ///< a CUDA graph's launch is one slice, not one a node
    bool recordCommandLine = true;
    RecordFrom from = RecordFrom::Start;
    std::chrono::milliseconds delay{0};
    std::chrono::milliseconds duration{0};  ///< of the recording; 0: to the command's end
    std::uint64_t maxFileBytes = 0;         ///< recording ends when the file reaches it; 0: no limit
    int bufferMiB = 0;                      ///< in each process; 0: the library's default
};

struct CollectOutcome {
    ExitStatus status;          ///< the command's
    std::size_t processes = 0;  ///< that recorded something
    std::uint64_t deviceSlices = 0, slices = 0;
    std::int64_t firstNs = 0, lastNs = 0;  ///< what the processes' recordings span
    std::vector<Diagnostic> diagnostics;   ///< one a name, counts added up
    std::string message;                   ///< one sentence when recording ended early; else empty
};

/// Runs the command with this process's terminal, forwards signals that are meant for it, and returns when it and the
/// processes that it started have ended. The command is never disturbed: when the trace cannot be written any more, it
/// runs on unrecorded, and the outcome says so. Throws Error, before the command is started, for what cannot work.
[[nodiscard]] CollectOutcome collect(const CollectRequest&);

/// `pattern` with %h the host, %p this process's id, %r the rank from the environment (0 without), %d the date
/// (20261201), %t the time (145930), %% a percent sign. Throws Error for any other letter.
[[nodiscard]] std::filesystem::path expandOutputName(const std::string& pattern);

}  // namespace fp8scope::session
