// SPDX-License-Identifier: Apache-2.0
// Keys that say what is recorded of the numbers themselves.
#include "engine/plan/key_builders.h"

namespace fp8scope::plan {

std::vector<KeyBinding> numericsKeys()
{
    return {
        integerKey(
            "numerics.every", 0, 1'000'000, "steps from one sample of SQNR and exponents to the next; 0: never",
            [](auto& c) -> auto& { return c.numerics.every; }),
        booleanKey(
            "numerics.gradient_norm", "the norm of all gradients, every step",
            [](auto& c) -> auto& { return c.numerics.gradientNorm; }),
        booleanKey(
            "numerics.shadow", "sampled steps of fp8 modes are computed in bf16 as well, to tell how far they are off",
            [](auto& c) -> auto& { return c.numerics.shadow; }),
    };
}

}  // namespace fp8scope::plan
