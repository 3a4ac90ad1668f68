// SPDX-License-Identifier: Apache-2.0
// What is recorded of the numbers, against what the tensors themselves say.
#include "collector/trace/error.h"
#include "tests/engine/cpu/small_configs.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace fp8scope::cpu {
namespace {

/// The output of the op that casts a tensor, by index into StepPlan::quantized.
plan::TensorId castOutput(const plan::StepPlan& plan, int quantized)
{
    for (const plan::Op& op : plan.ops)
        if (op.quantized == quantized && op.kind != plan::OpKind::Clamp)
            return op.outputs.at(0);
    throw std::runtime_error("never cast");
}

/// SQNR of all elements, as the definition says.
double exactSqnrDb(const CpuExecutor& executor, int quantized)
{
    const plan::QuantizedTensor& tensor = executor.plan().quantized[static_cast<std::size_t>(quantized)];
    const std::vector<float> x = executor.read(tensor.source),
                             q = executor.read(castOutput(executor.plan(), quantized));
    const double scale = executor.read(tensor.scale)[0];
    double signal = 0, noise = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = x[i] - q[i] / scale;
        signal += static_cast<double>(x[i]) * x[i];
        noise += error * error;
    }
    return 10 * std::log10(signal / noise);
}

struct Case {
    plan::RecipeKind recipe;
    const char* mode;
};

class QualityTest : public ::testing::TestWithParam<Case> {};

TEST_P(QualityTest, SqnrIsThatOfTheElements)
{
    CpuExecutor executor = executorKeepingTensors(withRecipe(smallConfig(), GetParam().recipe), GetParam().mode);
    const StepResult result = executor.runStep();
    ASSERT_EQ(result.quality.size(), executor.plan().quantized.size());
    int compared = 0;
    for (int t = 0; t < static_cast<int>(result.quality.size()); ++t) {
        const plan::QuantizedTensor& tensor = executor.plan().quantized[static_cast<std::size_t>(t)];
        const QuantizationQuality& quality = result.quality[static_cast<std::size_t>(t)];
        // Weights are updated at the step's end, delayed scales too: then the tensors are no longer those of the cast.
        const bool same = !executor.plan().tensor(tensor.source.valid() ? tensor.source : tensor.amax).persistent &&
                          tensor.source.valid() && GetParam().recipe == plan::RecipeKind::Tensorwise;
        const bool known = std::isfinite(quality.sqnrDb);
        EXPECT_TRUE(known || GetParam().mode == std::string_view("fp8-fused"))
            << tensor.name << ": only casts that are fused into other work are not looked at";
        if (known) {
            EXPECT_GT(quality.sqnrDb, 10) << tensor.name;
        }
        if (known && same) {
            EXPECT_NEAR(quality.sqnrDb, exactSqnrDb(executor, t), 0.01) << tensor.name;
            ++compared;
        }
    }
    if (GetParam().recipe == plan::RecipeKind::Tensorwise) {
        EXPECT_GE(compared, 3);
    }
}

TEST_P(QualityTest, HistogramsCountEveryElementThatIsNotZero)
{
    CpuExecutor executor = executorFor(withRecipe(smallConfig(), GetParam().recipe), GetParam().mode);
    const StepResult result = executor.runStep();
    for (std::size_t t = 0; t < result.quality.size(); ++t) {
        const auto& bins = result.quality[t].exponents;
        const QuantizationStat& stat = result.quantized[t];
        if (std::isnan(result.quality[t].sqnrDb))
            continue;
        EXPECT_EQ(std::accumulate(bins.begin(), bins.end(), std::uint64_t{0}), stat.count - stat.zeros)
            << executor.plan().quantized[t].name;
        const auto last = std::find_if(bins.rbegin(), bins.rend(), [](auto count) { return count > 0; }).base();
        const int exponent = static_cast<int>(last - bins.begin()) - 1 - 127;
        EXPECT_EQ(exponent, std::ilogb(stat.amax)) << executor.plan().quantized[t].name;
    }
}

INSTANTIATE_TEST_SUITE_P(RecipesAndFusions, QualityTest,
                         ::testing::Values(Case{plan::RecipeKind::Tensorwise, "fp8"},
                                           Case{plan::RecipeKind::Tensorwise, "fp8-fused"},
                                           Case{plan::RecipeKind::Delayed, "fp8"},
                                           Case{plan::RecipeKind::Delayed, "fp8-fused"}));

TEST(NumericsTest, QualityIsSampledInEveryNthStep)
{
    plan::MlpConfig config = smallConfig();
    config.numerics.every = 3;
    CpuExecutor executor = executorFor(config, "fp8");
    std::vector<bool> sampled;
    for (int step = 0; step < 7; ++step)
        sampled.push_back(!executor.runStep().quality.empty());
    EXPECT_THAT(sampled, ::testing::ElementsAre(true, false, false, true, false, false, true));
}

TEST(NumericsTest, SamplingAndGradientNormChangeNoResult)
{
    plan::MlpConfig off = smallConfig();
    off.numerics = {.every = 0, .gradientNorm = false};
    plan::MlpConfig on = smallConfig();
    on.numerics = {.every = 1};
    CpuExecutor with = executorFor(on, "fp8-fused"), without = executorFor(off, "fp8-fused");
    EXPECT_EQ(losses(with, 4), losses(without, 4));
    EXPECT_TRUE(std::isnan(without.runStep().gradientNorm));
}

TEST(NumericsTest, GradientNormIsThatOfAllGradients)
{
    CpuExecutor executor = executorKeepingTensors(smallConfig(), "bf16");
    const double norm = executor.runStep().gradientNorm;
    double squares = 0;
    for (const plan::Op& op : executor.plan().ops) {
        for (std::size_t i = 0; op.role == Role::Optimizer && i < op.inputs.size(); ++i)
            for (const float g : executor.read(op.inputs[i]))
                squares += static_cast<double>(g) * g;
    }
    EXPECT_GT(norm, 0);
    EXPECT_NEAR(norm, std::sqrt(squares), 1e-5 * norm);
}

TEST(NumericsTest, AGradientThatIsNotFiniteIsNamedBeforeItReachesTheWeights)
{
    plan::MlpConfig config = smallConfig();
    config.loss = plan::Loss::SoftmaxCrossEntropy;  // its loss stays finite where gradients do not
    CpuExecutor executor = executorKeepingTensors(config, "bf16");
    const plan::TensorId weight = tensorNamed(executor.plan(), "layer2.w");
    std::vector<float> huge = executor.read(weight);
    for (std::size_t i = 0; i < huge.size(); ++i)
        huge[i] = i / 32 % 2 == 0 ? 0x1p120F : -0x1p120F;  // a row a class
    executor.write(weight, huge);
    try {
        (void)executor.runStep();
        FAIL() << "went on";
    } catch (const Error& error) {
        EXPECT_EQ(error.problem(), "the gradient norm is inf");
        EXPECT_THAT(error.where(), ::testing::MatchesRegex("mode bf16, step 0, tensor 'layer[01].d[wb]'"));
    }
    EXPECT_EQ(executor.read(weight), huge) << "the optimizer did not run";
}

TEST(NumericsTest, ALossThatIsNotFiniteNamesTheTensorThatMadeItSo)
{
    CpuExecutor executor = executorKeepingTensors(smallConfig(), "bf16");
    const plan::TensorId weight = tensorNamed(executor.plan(), "layer2.w");
    executor.write(weight, std::vector<float>(executor.read(weight).size(), INFINITY));
    try {
        (void)executor.runStep();
        FAIL() << "went on";
    } catch (const Error& error) {
        EXPECT_EQ(error.where(), "mode bf16, step 0, tensor 'layer2.z'");
    }
}

TEST(NumericsTest, AnExecutorWithAnothersStateDoesItsNextStep)
{
    const plan::MlpConfig config = withRecipe(smallConfig(), plan::RecipeKind::Delayed);
    CpuExecutor trained = executorFor(config, "fp8-fused");
    (void)losses(trained, 5);
    CpuExecutor twin = executorKeepingTensors(config, "fp8-fused");
    twin.copyState(trained);
    EXPECT_EQ(twin.runStep().loss, trained.runStep().loss);
}

TEST(NumericsTest, Bf16OfTheSameWeightsIsNearFp8)
{
    CpuExecutor trained = executorFor(smallConfig(), "fp8");
    (void)losses(trained, 5);
    CpuExecutor bf16 = executorFor(smallConfig(), "bf16");
    bf16.copyState(trained);
    const double theirs = bf16.runStep().loss, ours = trained.runStep().loss;
    EXPECT_NE(theirs, ours);
    EXPECT_NEAR(theirs, ours, 0.05 * ours);
}

}  // namespace
}  // namespace fp8scope::cpu
