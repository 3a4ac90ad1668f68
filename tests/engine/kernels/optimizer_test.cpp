// SPDX-License-Identifier: Apache-2.0
// Optimizers bitwise against plain f32 loops, several steps long.
#include "kernel_inputs.h"

namespace fp8scope::kernels {
namespace {

using namespace test;

struct Parameter {
    std::vector<Bf16> grad, weight;
    std::vector<float> wideGrad, master, momentum, variance;

    explicit Parameter(std::size_t n)
        : grad(randomBf16(n, 1)), weight(n), wideGrad(n), master(randomFloats(n, 2)), momentum(n), variance(n)
    {
        for (std::size_t i = 0; i < n; ++i)
            wideGrad[i] = decodeBf16(grad[i]);
    }
    ParameterSlice slice(bool wide)
    {
        return {.n = master.size(),
                .gradBf16 = wide ? nullptr : grad.data(),
                .gradF32 = wide ? wideGrad.data() : nullptr,
                .master = master.data(),
                .weight = weight.data(),
                .momentum = momentum.data(),
                .variance = variance.data()};
    }
    friend bool operator==(const Parameter&, const Parameter&) = default;
};

void plainSgd(Parameter& p, const SgdSettings& s)
{
    for (std::size_t i = 0; i < p.master.size(); ++i) {
        p.momentum[i] = p.momentum[i] * s.momentum + p.wideGrad[i];
        p.master[i] -= p.momentum[i] * s.learningRate;
        p.weight[i] = encodeBf16(p.master[i]);
    }
}

void plainAdam(Parameter& p, const AdamSettings& s)
{
    for (std::size_t i = 0; i < p.master.size(); ++i) {
        const float g = p.wideGrad[i];
        p.momentum[i] = p.momentum[i] * s.beta1 + g * s.oneMinusBeta1;
        p.variance[i] = p.variance[i] * s.beta2 + g * s.oneMinusBeta2 * g;
        p.master[i] -= p.momentum[i] * s.stepSize / (std::sqrt(p.variance[i]) * s.invSqrtCorrection2 + s.epsilon);
        p.weight[i] = encodeBf16(p.master[i]);
    }
}

class OptimizerKernels : public EveryLevel {};

TEST_P(OptimizerKernels, SgdWithMomentumIsThePlainLoop)
{
    for (const std::size_t n : kLengths)
        for (const bool wide : {false, true}) {
            Parameter p(n), expected(n);
            for (int step = 0; step < 3; ++step) {
                kernels.sgd(p.slice(wide), {.learningRate = 0.1F, .momentum = 0.9F});
                plainSgd(expected, {.learningRate = 0.1F, .momentum = 0.9F});
            }
            EXPECT_EQ(p, expected);
        }
}

TEST_P(OptimizerKernels, AdamIsThePlainLoop)
{
    for (const std::size_t n : kLengths)
        for (const bool wide : {false, true}) {
            Parameter p(n), expected(n);
            for (int step = 1; step <= 3; ++step) {
                kernels.adam(p.slice(wide), adamSettings(1e-3, 0.9, 0.999, 1e-8, step));
                plainAdam(expected, adamSettings(1e-3, 0.9, 0.999, 1e-8, step));
            }
            EXPECT_EQ(p, expected);
        }
}

TEST_P(OptimizerKernels, AdamsFirstStepMovesByTheLearningRateAgainstTheGradient)
{
    Parameter p(1);
    p.master[0] = 1;
    p.grad[0] = encodeBf16(0.5F);
    kernels.adam(p.slice(false), adamSettings(0.01, 0.9, 0.999, 1e-8, 1));
    EXPECT_NEAR(p.master[0], 0.99, 1e-6);
    EXPECT_EQ(p.weight[0], encodeBf16(p.master[0]));
}

INSTANTIATE_TEST_SUITE_P(Levels, OptimizerKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels
