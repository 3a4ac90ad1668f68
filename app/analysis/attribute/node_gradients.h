// SPDX-License-Identifier: Apache-2.0
// Which products of a framework's own autograd function are weight gradients.
#pragma once

#include "collector/trace/trace.h"

namespace fp8scope::analysis {

/// Transformer Engine and others compute a layer's backward in one autograd node ("_LinearBackward") without PyTorch
/// ops inside, so nothing but the order of its products tells them apart: dgrad then wgrad, of each linear layer in
/// turn; where the node is grouped ("_GroupedLinearBackward"), all dgrads first. A node with a single product is left
/// alone. Names must have their roles.
void splitNodeGradients(Trace& trace, RunId run);

}  // namespace fp8scope::analysis
