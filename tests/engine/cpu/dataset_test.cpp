// SPDX-License-Identifier: Apache-2.0
// The data set and the start of training: distributions, the teacher's targets, seeds.
#include "engine/cpu/dataset.h"

#include "engine/cpu/initialization.h"
#include "engine/cpu/random.h"
#include "engine/cpu/teacher.h"
#include "tests/engine/cpu/small_configs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <set>

namespace fp8scope::cpu {
namespace {

using kernels::Bf16;
using plan::MlpConfig;

const kernels::CpuKernels& hereKernels() { return kernels::cpuKernels(kernels::vectorLevelFor("")); }

template <typename T>
std::vector<T> contents(std::span<const std::byte> bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

struct Moments {
    double mean = 0, variance = 0;
};
template <typename Values>
Moments momentsOf(const Values& values)
{
    Moments m;
    for (const double v : values)
        m.mean += v / static_cast<double>(values.size());
    for (const double v : values)
        m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
    return m;
}

TEST(RandomTest, StreamsAreUniformNormalAndDistinct)
{
    constexpr std::uint64_t kCount = 200'000;  // standard error of a mean: 0.0022
    std::vector<float> uniform, normal;
    std::set<std::uint64_t> bits;
    for (std::uint64_t i = 0; i < kCount; ++i) {
        uniform.push_back(RandomStream(1, 2).uniform(i, -3, 3));
        normal.push_back(RandomStream(1, 3).normal(i));
        for (const auto& [seed, stream] : {std::pair{1U, 2U}, {2U, 1U}, {2U, 2U}, {1U, 3U}})
            if (i < 1000)
                bits.insert(RandomStream(seed, stream).bits(i));
    }
    EXPECT_NEAR(momentsOf(uniform).mean, 0, 0.02);
    EXPECT_NEAR(momentsOf(uniform).variance, 3, 0.03);
    EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), -3);
    EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 3);
    EXPECT_NEAR(momentsOf(normal).mean, 0, 0.01);
    EXPECT_NEAR(momentsOf(normal).variance, 1, 0.015);
    EXPECT_EQ(bits.size(), 4000U) << "streams share numbers";
}

TEST(InitializationTest, KeepsTheVarianceOfSignals)
{
    MlpConfig config = smallConfig();
    CpuExecutor executor = executorFor(config, "bf16");
    for (std::size_t l = 0; l < executor.plan().layers.size(); ++l) {
        const plan::LayerPlan& layer = executor.plan().layers[l];
        const bool last = l + 1 == executor.plan().layers.size();
        const double expected = (last ? 1.0 : 2.0) / static_cast<double>(layer.inFeatures);
        const std::vector<float> weight = executor.read(layer.weight);
        EXPECT_NEAR(momentsOf(weight).variance, expected, 0.15 * expected) << layer.name;
        const std::vector<float> master = readNamed(executor, layer.name + ".w.master");
        for (std::size_t i = 0; i < weight.size(); ++i)
            ASSERT_EQ(weight[i], decodeBf16(encodeBf16(master[i])));
        EXPECT_EQ(executor.read(layer.bias), std::vector<float>(static_cast<std::size_t>(layer.outFeatures), 0));
    }
}

TEST(DatasetTest, InputsAreNormalAndBatchesDiffer)
{
    MlpConfig config = smallConfig();
    config.widths = {512, 16};
    const plan::StepPlan plan = plan::buildPlan(config, "bf16");
    const Dataset dataset(plan, hereKernels());
    std::vector<float> x;
    for (const Bf16 bits : contents<Bf16>(dataset.batch(0).input))
        x.push_back(decodeBf16(bits));
    EXPECT_NEAR(momentsOf(x).mean, 0, 0.02);
    EXPECT_NEAR(momentsOf(x).variance, 1, 0.03);
    EXPECT_NE(contents<Bf16>(dataset.batch(0).input), contents<Bf16>(dataset.batch(1).input));
    EXPECT_EQ(contents<Bf16>(dataset.batch(0).input), contents<Bf16>(dataset.batch(2).input));
    EXPECT_EQ(Dataset::keptBytes(plan), 2U * (80 * 512 * 2 + 80 * 16 * 4));
}

TEST(DatasetTest, ClassesAreTheTeachersLargestOutputs)
{
    MlpConfig config = smallConfig();
    const plan::StepPlan regression = plan::buildPlan(config, "bf16");
    config.loss = plan::Loss::SoftmaxCrossEntropy;
    const plan::StepPlan classification = plan::buildPlan(config, "bf16");
    const auto outputs = contents<float>(Dataset(regression, hereKernels()).batch(1).target);
    const auto labels = contents<std::int32_t>(Dataset(classification, hereKernels()).batch(1).target);
    ASSERT_EQ(labels.size(), 80U);
    std::set<std::int32_t> used;
    for (std::size_t row = 0; row < labels.size(); ++row) {
        const auto begin = outputs.begin() + static_cast<std::ptrdiff_t>(row * 16);
        EXPECT_EQ(labels[row], std::max_element(begin, begin + 16) - begin);
        used.insert(labels[row]);
    }
    EXPECT_GT(used.size(), 2U) << "one class only would teach nothing";
}

TEST(DatasetTest, TeacherIsThePlainNetwork)
{
    MlpConfig config = smallConfig();
    config.widths = {5, 7, 3};
    config.batch = 4;
    config.activation = plan::Activation::Gelu;
    std::vector<Bf16> x;
    for (std::uint64_t i = 0; i < 20; ++i)
        x.push_back(encodeBf16(RandomStream(9, 9).normal(i)));
    Teacher teacher(config, hereKernels());
    const auto outputs = teacher.outputs(x);
    ASSERT_EQ(outputs.size(), 12U);

    std::vector<double> from(x.size()), to;
    std::transform(x.begin(), x.end(), from.begin(), decodeBf16);
    for (std::uint64_t l = 0; l < 2; ++l) {
        const auto in = static_cast<std::size_t>(config.widths[l]),
                   out = static_cast<std::size_t>(config.widths[l + 1]);
        std::vector<float> w(in * out), b(out);
        fillUniform(w, weightBound(config, l), RandomStream(config.seed, kTeacherWeightStream + l));
        fillUniform(b, 0.5F, RandomStream(config.seed, kTeacherBiasStream + l));
        to.assign(4 * out, 0);
        for (std::size_t r = 0; r < 4; ++r)
            for (std::size_t o = 0; o < out; ++o) {
                double z = b[o];
                for (std::size_t i = 0; i < in; ++i)
                    z += from[r * in + i] * w[o * in + i];
                to[r * out + o] =
                    l == 1 ? z
                           : 0.5 * z * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
            }
        from = to;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
        EXPECT_NEAR(outputs[i], from[i], 1e-5);
}

}  // namespace
}  // namespace fp8scope::cpu
