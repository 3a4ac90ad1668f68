// SPDX-License-Identifier: Apache-2.0
// What an epilogue does, from one table.
#include "engine/plan/step_plan.h"

#include <algorithm>
#include <array>

namespace fp8scope::plan {
namespace {

struct EpilogueFacts {
    Epilogue epilogue;
    std::string_view word;
    bool bias;
    Activation activation;
    bool aux;
};

constexpr std::array kEpilogues{
    EpilogueFacts{Epilogue::None, "none", false, Activation::None, false},
    EpilogueFacts{Epilogue::Bias, "bias", true, Activation::None, false},
    EpilogueFacts{Epilogue::Relu, "relu", false, Activation::Relu, false},
    EpilogueFacts{Epilogue::ReluBias, "relu_bias", true, Activation::Relu, false},
    EpilogueFacts{Epilogue::ReluAux, "relu_aux", false, Activation::Relu, true},
    EpilogueFacts{Epilogue::ReluAuxBias, "relu_aux_bias", true, Activation::Relu, true},
    EpilogueFacts{Epilogue::Gelu, "gelu", false, Activation::Gelu, false},
    EpilogueFacts{Epilogue::GeluBias, "gelu_bias", true, Activation::Gelu, false},
    EpilogueFacts{Epilogue::GeluAux, "gelu_aux", false, Activation::Gelu, true},
    EpilogueFacts{Epilogue::GeluAuxBias, "gelu_aux_bias", true, Activation::Gelu, true},
};

const EpilogueFacts& factsOf(Epilogue epilogue) { return kEpilogues.at(static_cast<std::size_t>(epilogue)); }

}  // namespace

Epilogue epilogueOf(bool bias, Activation activation, bool aux)
{
    const auto found = std::find_if(kEpilogues.begin(), kEpilogues.end(), [&](const EpilogueFacts& facts) {
        return facts.bias == bias && facts.activation == activation && facts.aux == aux;
    });
    return found == kEpilogues.end() ? Epilogue::None : found->epilogue;
}

bool addsBias(Epilogue epilogue) { return factsOf(epilogue).bias; }
Activation activationOf(Epilogue epilogue) { return factsOf(epilogue).activation; }
bool writesAux(Epilogue epilogue) { return factsOf(epilogue).aux; }
std::string_view toString(Epilogue epilogue) { return factsOf(epilogue).word; }

}  // namespace fp8scope::plan
