// SPDX-License-Identifier: Apache-2.0
// What the two sides of `fp8scope predict` share: single layers (--shapes, --sweep) and whole training runs (--preset).
#pragma once

#include "app/cli/command.h"
#include "engine/plan/config.h"
#include "engine/predict/device.h"
#include "engine/predict/linear.h"
#include "engine/predict/step.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fp8scope::cli {

/// A way to make an fp8 layer of a bf16 one, as --recipe names it.
struct RecipeChoice {
    std::string name;  ///< "tensorwise", "delayed", "rowwise", "blockwise", "mxfp8"
    predict::GemmKind gemm = predict::GemmKind::Tensorwise;
    std::optional<predict::Quantization> quantization;  ///< what the recipe itself decides: delayed scales are known
};

struct LayerQuestion {
    std::vector<std::string> shapes;  ///< "M,K,N" each, or one CSV file with columns m, n, k
    std::vector<std::string> recipes{"tensorwise"};
    std::vector<std::string> quantization;  ///< empty: dynamic in CSV, else eager, dynamic and fused
    predict::Pass pass = predict::Pass::Forward;
    predict::Clock clock = predict::Clock::Burst;
    Format format = Format::Table;
    std::string timeUnit = "auto";
};

/// A whole training run, mode by mode.
struct RunQuestion {
    std::filesystem::path output;  ///< empty: only the table
    bool force = false;
    predict::Host host = predict::Host::Engine;
};

/// "predicted for NVIDIA H100 SXM 80 GB (fitted to ...; not measured)": stands above every predicted figure.
[[nodiscard]] std::string predictedFor(const predict::DeviceModel&);

void printLayers(const predict::DeviceModel&, const LayerQuestion&);

/// Predicts each mode of the configuration; writes the trace if one is asked for.
void printRun(const predict::DeviceModel&, const plan::MlpConfig&, const RunQuestion&, Format,
              const std::string& timeUnit);

/// "M=1024:16384:1024 K=4096 N=1024:16384": each an extent or a range, geometric ("LOW:HIGH:xFACTOR") or with a step.
void printSweep(const predict::DeviceModel&, const LayerQuestion&, const std::vector<std::string>& ranges);

/// The recipes by name; "all" is each one that the device has. Throws Error for an unknown name.
[[nodiscard]] std::vector<RecipeChoice> recipesNamed(const predict::DeviceModel&,
                                                     const std::vector<std::string>& names);

}  // namespace fp8scope::cli
