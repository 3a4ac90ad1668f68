// SPDX-License-Identifier: Apache-2.0
// Training as a whole: losses fall, results repeat on any number of threads and any vector level, oddities are refused.
#include "collector/trace/error.h"
#include "tests/engine/cpu/small_configs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace fp8scope::cpu {
namespace {

using plan::MlpConfig;
using ::testing::HasSubstr;

constexpr const char* kModes[] = {"bf16", "fp8", "fp8-fused"};

/// Sets FP8SCOPE_SIMD and restores it.
class VectorLevelLimit {
public:
    explicit VectorLevelLimit(const char* level) { ::setenv("FP8SCOPE_SIMD", level, 1); }
    ~VectorLevelLimit() { ::unsetenv("FP8SCOPE_SIMD"); }
    VectorLevelLimit(const VectorLevelLimit&) = delete;
    VectorLevelLimit& operator=(const VectorLevelLimit&) = delete;
};

MlpConfig learnable()
{
    MlpConfig config = smallConfig();
    config.datasetBatches = 2;
    config.optimizer.learningRate = 5e-3;
    return config;
}

void expectLearning(const MlpConfig& config, const char* mode)
{
    CpuExecutor executor = executorFor(config, mode);
    const std::vector<double> all = losses(executor, 60);
    EXPECT_LT(all.back(), 0.5 * all.front()) << mode;
}

TEST(TrainingTest, LossFallsInEveryMode)
{
    MlpConfig classes = learnable();
    classes.loss = plan::Loss::SoftmaxCrossEntropy;
    classes.activation = plan::Activation::Gelu;
    MlpConfig sgd = learnable();
    sgd.optimizer.kind = plan::OptimizerKind::Sgd;
    sgd.optimizer.learningRate = 0.1;
    for (const char* mode : kModes) {
        expectLearning(learnable(), mode);
        expectLearning(withRecipe(learnable(), plan::RecipeKind::Delayed), mode);
        expectLearning(classes, mode);
        expectLearning(sgd, mode);
    }
}

TEST(TrainingTest, PlanWithSharedMemoryGivesTheSameLosses)
{
    for (const plan::RecipeKind recipe : {plan::RecipeKind::Tensorwise, plan::RecipeKind::Delayed})
        for (const char* mode : kModes) {
            const MlpConfig config = withRecipe(smallConfig(), recipe);
            CpuExecutor sharing = executorFor(config, mode), keeping = executorKeepingTensors(config, mode);
            EXPECT_LT(sharing.plan().arenaBytes, keeping.plan().arenaBytes);
            EXPECT_EQ(losses(sharing, 5), losses(keeping, 5)) << mode;
        }
}

TEST(TrainingTest, ResultsDoNotDependOnTheThreads)
{
    MlpConfig config = smallConfig();
    config.widths = {208, 256, 144, 10};  // large enough that loops and oneDNN really split
    config.batch = 272;
    for (const char* mode : kModes) {
        CpuExecutor one = executorKeepingTensors(config, mode, 1), two = executorKeepingTensors(config, mode, 2),
                    three = executorKeepingTensors(config, mode, 3);
        const std::vector<double> expected = losses(one, 4);
        EXPECT_EQ(losses(two, 4), expected) << mode;
        EXPECT_EQ(losses(three, 4), expected) << mode;
        for (std::uint32_t i = 0; i < one.plan().tensors.size(); ++i) {
            const auto a = one.bytes(plan::TensorId(i)), b = three.bytes(plan::TensorId(i));
            ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << mode << ": " << one.plan().tensors[i].name;
        }
    }
}

TEST(TrainingTest, ResultsDoNotDependOnTheVectorLevel)
{
    MlpConfig config = smallConfig();
    config.activation = plan::Activation::Gelu;
    for (const char* mode : kModes) {
        CpuExecutor best = executorFor(config, mode);
        const std::vector<double> expected = losses(best, 4);
        for (const char* level : {"portable", "avx2", "avx512"}) {
            const VectorLevelLimit limit(level);
            CpuExecutor limited = executorFor(config, mode);
            EXPECT_EQ(losses(limited, 4), expected) << mode << " at " << vectorLevel();
        }
    }
}

TEST(TrainingTest, SeedsChangeTheRun)
{
    MlpConfig config = smallConfig();
    CpuExecutor first = executorFor(config, "bf16"), again = executorFor(config, "bf16");
    config.seed = 2;
    CpuExecutor other = executorFor(config, "bf16");
    const std::vector<double> expected = losses(first, 3);
    EXPECT_EQ(losses(again, 3), expected);
    EXPECT_NE(losses(other, 3), expected);
}

TEST(TrainingTest, BatchesComeInTurn)
{
    MlpConfig config = smallConfig();
    config.optimizer.learningRate = 1e-30;  // weights stay as they are, so a batch has the same loss again
    config.datasetBatches = 3;
    CpuExecutor executor = executorFor(config, "bf16");
    const std::vector<double> l = losses(executor, 6);
    EXPECT_NE(l[0], l[1]);
    EXPECT_NE(l[1], l[2]);
    EXPECT_EQ(std::vector(l.begin(), l.begin() + 3), std::vector(l.begin() + 3, l.end()));
}

TEST(TrainingTest, OpsAreTimedInOrderWithinTheStep)
{
    CpuExecutor executor = executorFor(smallConfig(), "fp8");
    const StepResult step = executor.runStep();
    ASSERT_EQ(step.ops.size(), executor.plan().ops.size());
    std::int64_t end = step.startNs;
    for (const OpTiming& op : step.ops) {
        EXPECT_GE(op.startNs, end);
        EXPECT_GE(op.durNs, 0);
        end = op.startNs + op.durNs;
    }
    EXPECT_LE(end, step.startNs + step.durNs);
    EXPECT_GT(step.gemmLibraryNs, 0);
    EXPECT_LE(step.gemmLibraryNs, step.durNs);
}

TEST(TrainingTest, StatisticsCountWhatTheScaleDoes)
{
    // Delayed scaling starts with scale 1: the gradient of a mean over 80 x 16 elements is about 1e-3, where e5m2 still
    // holds it, while 1e-7 of it underflows (below half of 2^-16).
    CpuExecutor executor = executorKeepingTensors(withRecipe(smallConfig(), plan::RecipeKind::Delayed), "fp8");
    const StepResult first = executor.runStep();
    for (std::size_t q = 0; q < first.quantized.size(); ++q) {
        const plan::QuantizedTensor& tensor = executor.plan().quantized[q];
        const QuantizationStat& stat = first.quantized[q];
        const std::vector<float> source = executor.read(tensor.source);
        EXPECT_EQ(stat.scale, 1) << tensor.name;
        EXPECT_EQ(stat.count, source.size()) << tensor.name;
        float amax = 0;
        std::uint64_t zeros = 0, underflowed = 0;
        for (const float v : source) {
            amax = std::max(amax, std::abs(v));
            zeros += v == 0 ? 1U : 0U;
            underflowed += v != 0 && (encodeFp8(v, tensor.format) & 0x7fU) == 0 ? 1U : 0U;
        }
        if (!executor.plan().tensor(tensor.source).persistent) {  // weights are those after the step by now
            EXPECT_EQ(stat.amax, amax) << tensor.name;
            EXPECT_EQ(stat.zeros, zeros) << tensor.name;
            EXPECT_EQ(stat.underflowed, underflowed) << tensor.name;
        }
        EXPECT_EQ(stat.saturated, 0U) << tensor.name;
    }
}

TEST(TrainingTest, DelayedScalesFollowTheHistory)
{
    CpuExecutor executor = executorKeepingTensors(withRecipe(smallConfig(), plan::RecipeKind::Delayed), "fp8");
    std::vector<float> amaxes;  // of the first quantized tensor, layer0.x
    for (int step = 0; step < 7; ++step) {
        const StepResult result = executor.runStep();
        if (step > 0) {
            // The largest of the last 4 (history length) amaxes of earlier steps; the place that the next amax will
            // take is zero in the history, but the value that stood there still counted when the scale was made.
            const std::size_t from = amaxes.size() > 4 ? amaxes.size() - 4 : 0;
            const float amax = *std::max_element(amaxes.begin() + static_cast<std::ptrdiff_t>(from), amaxes.end());
            EXPECT_EQ(result.quantized[0].scale, 448.0F / amax) << "step " << step;
        }
        amaxes.push_back(result.quantized[0].amax);
    }
}

TEST(TrainingTest, NonFiniteLossNamesStepAndTensor)
{
    MlpConfig config = smallConfig();
    CpuExecutor executor = executorFor(config, "bf16");
    (void)executor.runStep();
    const plan::TensorId weight = executor.plan().layers[0].weight;
    std::vector<float> broken = executor.read(weight);
    broken[5] = std::numeric_limits<float>::quiet_NaN();
    executor.write(weight, broken);
    try {
        (void)executor.runStep();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("loss is nan"));
        EXPECT_THAT(error.what(), HasSubstr("step 1"));
        EXPECT_THAT(error.mend(), HasSubstr("learning_rate"));
    }
}

TEST(TrainingTest, NonFiniteAmaxNamesTheQuantizedTensor)
{
    for (const char* mode : {"fp8", "fp8-fused"}) {
        CpuExecutor executor = executorFor(smallConfig(), mode);
        const plan::TensorId weight = executor.plan().layers[1].weight;
        std::vector<float> broken = executor.read(weight);
        broken[0] = std::numeric_limits<float>::infinity();
        executor.write(weight, broken);
        try {
            (void)executor.runStep();
            FAIL() << "no error";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("amax is inf"));
            EXPECT_THAT(error.what(), HasSubstr("layer1.w"));
        }
    }
}

TEST(TrainingTest, TooLargeAPlanIsRefusedWithTheBytes)
{
    MlpConfig config;
    config.widths = {1 << 20, 1 << 20};  // 2^40 weights
    try {
        const CpuExecutor executor = executorFor(config, "bf16");
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("bytes"));
        EXPECT_THAT(error.mend(), HasSubstr("lower batch, widths"));
    }
}

TEST(TrainingTest, WrittenTensorsReadBackRounded)
{
    CpuExecutor executor = executorFor(smallConfig(), "bf16");
    const plan::TensorId bias = executor.plan().layers[0].bias;
    std::vector<float> values(static_cast<std::size_t>(executor.plan().tensor(bias).elements()), 1.0F + 0x1p-9F);
    executor.write(bias, values);
    EXPECT_EQ(executor.read(bias)[0], 1.0F);
    values.pop_back();
    EXPECT_THROW(executor.write(bias, values), Error);
}

}  // namespace
}  // namespace fp8scope::cpu
