// SPDX-License-Identifier: Apache-2.0
// The words of the configuration's enums, as they stand in TOML, in the trace and in printed plans.
#include "engine/plan/config.h"

namespace fp8scope::plan {

std::string_view toString(Activation activation)
{
    switch (activation) {
    case Activation::None: return "none";
    case Activation::Relu: return "relu";
    case Activation::Gelu: return "gelu";
    }
    return "?";
}

std::string_view toString(Loss loss)
{
    switch (loss) {
    case Loss::MeanSquaredError: return "mean_squared_error";
    case Loss::SoftmaxCrossEntropy: return "softmax_cross_entropy";
    }
    return "?";
}

std::string_view toString(OptimizerKind kind)
{
    switch (kind) {
    case OptimizerKind::Sgd: return "sgd";
    case OptimizerKind::Adam: return "adam";
    }
    return "?";
}

}  // namespace fp8scope::plan
