// SPDX-License-Identifier: Apache-2.0
// Which framework made a run, and how it scales: read off the names of its kernels, ops and Python frames.
#pragma once

#include "app/analysis/advise.h"
#include "collector/trace/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

enum class Confidence : std::uint8_t {
    Guess,    ///< nothing contradicts it
    Likely,   ///< by the pattern of kernels that it usually makes
    Certain,  ///< by names that only it has
};
[[nodiscard]] std::string_view toString(Confidence);

struct FrameworkEvidence {
    std::string name;         ///< of a kernel, op, range or frame
    std::string tells;        ///< "Transformer Engine", "delayed scaling", "compiled"
    std::uint64_t count = 0;  ///< slices of that name in the run
};

struct Framework {
    std::string
        name;  ///< as FrameworkOption spells it: "torchao", "Transformer Engine", ...; "PyTorch"; or empty: unknown
    std::string
        recipe;  ///< "tensorwise", "delayed", "rowwise", "blockwise", "mxfp8", "nvfp4"; empty: unknown, or no fp8
    bool usesFp8 = false;
    bool compiled = false;  ///< torch.compile's kernels do part of the work
    Confidence confidence = Confidence::Guess;
    std::vector<FrameworkEvidence> evidence;  ///< the most frequent names first, few a statement
    std::vector<std::string> speaks;          ///< whose options apply, best first: Megatron-LM runs Transformer Engine
};

/// The names must have been classified. Of the engine's own runs: "fp8scope", certain. One pass over the run's slices.
[[nodiscard]] Framework detectFramework(const Trace&, RunId);

/// "Transformer Engine, delayed scaling (certain)", "torchao, rowwise, compiled (likely)".
[[nodiscard]] std::string describe(const Framework&);

/// Puts the options that the detected framework understands first.
void putOwnOptionsFirst(Finding&, const Framework&);

}  // namespace fp8scope::analysis
