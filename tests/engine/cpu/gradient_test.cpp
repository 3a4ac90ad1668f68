// SPDX-License-Identifier: Apache-2.0
// The gradients that a step computes, against finite differences of the loss. The loss is that of a network of its own,
// written here in double without any rounding: what bf16 and fp8 may add to its gradient is in the tolerances.
#include "tests/engine/cpu/small_configs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace fp8scope::cpu {
namespace {

using plan::MlpConfig;

/// Parameters and batch of an executor's next step, in double.
struct Network {
    MlpConfig config;
    std::vector<std::vector<double>> weights, biases;  ///< by layer; weights row-major [out, in]
    std::vector<double> input, target;

    explicit Network(const CpuExecutor& executor) : config(executor.plan().config)
    {
        const auto doubles = [&](plan::TensorId id) {
            const std::vector<float> values = executor.read(id);
            return std::vector<double>(values.begin(), values.end());
        };
        for (const plan::LayerPlan& layer : executor.plan().layers) {
            weights.push_back(doubles(layer.weight));
            biases.push_back(layer.bias.valid() ? doubles(layer.bias)
                                                : std::vector<double>(static_cast<std::size_t>(layer.outFeatures)));
        }
    }

    [[nodiscard]] double loss() const
    {
        const auto batch = static_cast<std::size_t>(config.batch);
        std::vector<double> x = input;
        for (std::size_t l = 0; l < weights.size(); ++l)
            x = layer(x, l, batch);
        const std::size_t cols = x.size() / batch;
        double sum = 0;
        for (std::size_t r = 0; r < batch; ++r)
            sum += config.loss == plan::Loss::MeanSquaredError
                       ? squaredError(x, r, cols) / static_cast<double>(x.size())
                       : crossEntropy(x, r, cols) / static_cast<double>(batch);
        return sum;
    }

private:
    [[nodiscard]] std::vector<double> layer(const std::vector<double>& x, std::size_t l, std::size_t batch) const
    {
        const std::size_t in = x.size() / batch, out = biases[l].size();
        std::vector<double> y(batch * out);
        for (std::size_t r = 0; r < batch; ++r)
            for (std::size_t o = 0; o < out; ++o) {
                double sum = biases[l][o];
                for (std::size_t i = 0; i < in; ++i)
                    sum += x[r * in + i] * weights[l][o * in + i];
                y[r * out + o] = l + 1 < weights.size() ? activate(sum) : sum;
            }
        return y;
    }
    [[nodiscard]] double activate(double z) const
    {
        if (config.activation == plan::Activation::Relu)
            return std::max(z, 0.0);
        return 0.5 * z * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
    }
    [[nodiscard]] double squaredError(const std::vector<double>& y, std::size_t row, std::size_t cols) const
    {
        double sum = 0;
        for (std::size_t i = row * cols; i < (row + 1) * cols; ++i)
            sum += (y[i] - target[i]) * (y[i] - target[i]);
        return sum;
    }
    [[nodiscard]] double crossEntropy(const std::vector<double>& y, std::size_t row, std::size_t cols) const
    {
        double exponentials = 0;
        for (std::size_t c = 0; c < cols; ++c)
            exponentials += std::exp(y[row * cols + c]);
        return std::log(exponentials) - y[row * cols + static_cast<std::size_t>(target[row])];
    }
};

/// Central differences of the loss for every `stride`-th of the parameters.
std::vector<double> differences(Network& network, std::vector<double>& parameters, std::size_t stride)
{
    constexpr double kStep = 1e-5;
    std::vector<double> gradient;
    for (std::size_t i = 0; i < parameters.size(); i += stride) {
        const double at = parameters[i];
        parameters[i] = at + kStep;
        const double above = network.loss();
        parameters[i] = at - kStep;
        const double below = network.loss();
        parameters[i] = at;
        gradient.push_back((above - below) / (2 * kStep));
    }
    return gradient;
}

/// |computed - expected| / |expected| in the 2-norm, over the parameters that were differentiated.
double relativeError(const std::vector<double>& expected, const std::vector<float>& computed, std::size_t stride)
{
    double error = 0, size = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        error += std::pow(computed[i * stride] - expected[i], 2);
        size += expected[i] * expected[i];
    }
    return std::sqrt(error / size);
}

void expectGradients(const MlpConfig& config, const char* mode, double tolerance)
{
    constexpr std::size_t kWeightStride = 37, kBiasStride = 3;
    CpuExecutor executor = executorKeepingTensors(config, mode);
    Network network(executor);
    const double loss = executor.runStep().loss;
    for (const float v : executor.read(executor.plan().input))
        network.input.push_back(v);
    for (const float v : executor.read(executor.plan().target))
        network.target.push_back(v);

    EXPECT_NEAR(loss, network.loss(), tolerance * network.loss());
    for (std::size_t l = 0; l < network.weights.size(); ++l) {
        const std::string layer = "layer" + std::to_string(l);
        EXPECT_LT(relativeError(differences(network, network.weights[l], kWeightStride),
                                readNamed(executor, layer + ".dw"), kWeightStride),
                  tolerance)
            << layer << ".dw";
        if (config.bias) {
            EXPECT_LT(relativeError(differences(network, network.biases[l], kBiasStride),
                                    readNamed(executor, layer + ".db"), kBiasStride),
                      tolerance)
                << layer << ".db";
        }
    }
}

// A bf16 rounding errs by up to 2^-9 of a value, about 0.1% on average; a gradient collects a few of them on its way
// through three layers, and a relu whose input rounds over zero adds a little.
constexpr double kBf16Tolerance = 0.02;
// e4m3 rounds by up to 2^-4 of a value, 2 to 3% on average, e5m2 by twice that, in x, w and dy of each layer.
constexpr double kFp8Tolerance = 0.15;
// Such errors move some percent of a relu's inputs over zero. Each switches a path of the gradient on or off as a
// whole: 4% of the paths are 20% of the 2-norm.
constexpr double kFp8ReluTolerance = 0.3;

MlpConfig geluCrossEntropy()
{
    MlpConfig config = smallConfig();
    config.activation = plan::Activation::Gelu;
    config.loss = plan::Loss::SoftmaxCrossEntropy;
    return config;
}

TEST(GradientTest, MatchesFiniteDifferencesInBf16)
{
    expectGradients(smallConfig(), "bf16", kBf16Tolerance);
    expectGradients(geluCrossEntropy(), "bf16", kBf16Tolerance);
}

TEST(GradientTest, MatchesFiniteDifferencesInFp8)
{
    for (const char* mode : {"fp8", "fp8-fused"}) {
        SCOPED_TRACE(mode);
        expectGradients(smallConfig(), mode, kFp8ReluTolerance);
        expectGradients(geluCrossEntropy(), mode, kFp8Tolerance);
    }
}

}  // namespace
}  // namespace fp8scope::cpu
