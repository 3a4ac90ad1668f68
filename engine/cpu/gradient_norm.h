// SPDX-License-Identifier: Apache-2.0
// The L2 norm of all gradients of a step: what training watches to see trouble before the loss shows it.
#pragma once

#include "engine/cpu/op_context.h"

namespace fp8scope::cpu {

/// Adds up the squares of an optimizer op's gradients before the op runs. Sums in a fixed order, whatever the threads:
/// per 4,096 elements in f32, these in double.
[[nodiscard]] double squaredGradients(OpContext&, const plan::Op& optimizerOp);

/// The first gradient of the op that holds a value that is not finite; none() without one.
[[nodiscard]] plan::TensorId notFiniteGradient(OpContext&, const plan::Op& optimizerOp);

}  // namespace fp8scope::cpu
