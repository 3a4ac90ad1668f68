// SPDX-License-Identifier: Apache-2.0
// How parameters start: weights uniform by the fan-in rule of He et al. 2015, biases zero, masters equal to them,
// optimizer states zero.
#pragma once

#include "engine/cpu/arena.h"
#include "engine/cpu/random.h"
#include "engine/plan/step_plan.h"

#include <cstddef>
#include <span>

namespace fp8scope::cpu {

/// Weights of layer `layer` are uniform in +-bound: sqrt(6 / in) where an activation follows (it halves the variance),
/// sqrt(3 / in) where none does, so that signals keep their variance from layer to layer.
[[nodiscard]] float weightBound(const plan::MlpConfig&, std::size_t layer);

/// values[i] uniform in [-bound, bound).
void fillUniform(std::span<float> values, float bound, const RandomStream&);

/// Writes all weights and their masters, from the config's seed. The arena is as it was constructed.
void initializeParameters(const plan::StepPlan&, Arena&);

}  // namespace fp8scope::cpu
