// SPDX-License-Identifier: Apache-2.0
// What `fp8scope collect` asked for, out of the environment.
#pragma once

#include "collector/wire/injection.h"
#include "collector/wire/records.h"

#include <cstddef>
#include <string>

namespace fp8scope::inject {

enum class StartAt : std::uint8_t {
    Once,          ///< as soon as CUDA is initialised
    Command,       ///< when the recorder says so
    CudaProfiler,  ///< between cudaProfilerStart and cudaProfilerStop
};

struct Options {
    std::string socket, token, cupti;
    wire::RecordKinds kinds;
    bool graphsAsOne = false;
    bool commandLine = true;
    StartAt startAt = StartAt::Once;
    std::size_t maxBufferBytes = 0;
};

/// Wrong values (nobody but collect sets them) fall back to the defaults.
[[nodiscard]] Options optionsFromEnvironment();

/// This process as the recorder shall know it: name and arguments, host, rank under torchrun, MPI or Slurm.
[[nodiscard]] wire::Hello helloOf(const Options&);

}  // namespace fp8scope::inject
