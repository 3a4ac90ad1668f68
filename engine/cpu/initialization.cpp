// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/initialization.h"

#include "engine/cpu/parallel_for.h"

#include <cmath>

namespace fp8scope::cpu {

namespace {

constexpr std::int64_t kGrain = 1 << 14;

}  // namespace

float weightBound(const plan::MlpConfig& config, std::size_t layer)
{
    const bool last = layer + 2 == config.widths.size();
    const bool activated = !last && config.activation != plan::Activation::None;
    return std::sqrt((activated ? 6.0F : 3.0F) / static_cast<float>(config.widths[layer]));
}

void fillUniform(std::span<float> values, float bound, const RandomStream& random)
{
    parallelFor(static_cast<std::int64_t>(values.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            values[i] = random.uniform(i, -bound, bound);
    });
}

void initializeParameters(const plan::StepPlan& plan, Arena& arena)
{
    for (const plan::Op& op : plan.ops) {
        if (op.phase != Phase::Optimizer)
            continue;
        const auto layer = static_cast<std::size_t>(op.layer);
        const plan::TensorId weight = op.outputs[0], master = op.outputs[1];
        fillUniform(arena.f32(master), weightBound(plan.config, layer),
                    RandomStream(plan.config.seed, kWeightStream + layer));
        arena.write(weight, arena.f32(master));
    }
}

}  // namespace fp8scope::cpu
