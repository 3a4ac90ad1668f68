// SPDX-License-Identifier: Apache-2.0
// Configurations small enough for plain double-precision references, and short names for what tests do with them.
#pragma once

#include "engine/cpu/cpu_executor.h"
#include "engine/plan/step_plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::cpu {

/// Three layers with a bias; batch and widths are multiples of 16, so that fp8 modes run all of them in fp8.
inline plan::MlpConfig smallConfig()
{
    plan::MlpConfig config;
    config.widths = {48, 64, 32, 16};
    config.batch = 80;  // more than one block of rows of the kernels, and not a multiple of it
    config.datasetBatches = 2;
    config.optimizer.learningRate = 3e-3;
    return config;
}

/// Dimensions that are multiples of mxfp8's 32, more than one of its tiles of 128 among them.
inline plan::MlpConfig wholeBlocks()
{
    plan::MlpConfig config = smallConfig();
    config.widths = {64, 160, 32};
    config.batch = 96;
    return config;
}

inline plan::MlpConfig withRecipe(plan::MlpConfig config, plan::RecipeKind kind)
{
    config.recipe.kind = kind;
    if (kind == plan::RecipeKind::Delayed)
        config.recipe.historyLength = 4;
    return config;
}

/// One thread: the work is too small to share.
inline CpuExecutor executorFor(const plan::MlpConfig& config, std::string_view mode)
{
    return CpuExecutor(plan::buildPlan(config, mode), {.threads = 1});
}

inline CpuExecutor executorKeepingTensors(const plan::MlpConfig& config, std::string_view mode, int threads = 1)
{
    return CpuExecutor(plan::buildPlan(config, mode, {.keepTensors = true}), {.threads = threads});
}

inline plan::TensorId tensorNamed(const plan::StepPlan& plan, std::string_view name)
{
    for (std::uint32_t i = 0; i < plan.tensors.size(); ++i)
        if (plan.tensors[i].name == name)
            return plan::TensorId(i);
    throw std::runtime_error("no tensor " + std::string(name));
}

inline std::vector<float> readNamed(const CpuExecutor& executor, std::string_view name)
{
    return executor.read(tensorNamed(executor.plan(), name));
}

/// The losses of the next `steps` steps.
inline std::vector<double> losses(CpuExecutor& executor, int steps)
{
    std::vector<double> values;
    for (int i = 0; i < steps; ++i)
        values.push_back(executor.runStep().loss);
    return values;
}

}  // namespace fp8scope::cpu
