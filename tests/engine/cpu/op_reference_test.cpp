// SPDX-License-Identifier: Apache-2.0
// Every op of real training steps against its double-precision reference, in all modes, recipes, losses and optimizers.
#include "tests/engine/cpu/reference_ops.h"
#include "tests/engine/cpu/small_configs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace fp8scope::cpu {
namespace {

using plan::MlpConfig;
using plan::OpKind;

struct Variant {
    std::string name;
    MlpConfig config;
};

std::vector<Variant> variants()
{
    MlpConfig gelu = smallConfig();
    gelu.activation = plan::Activation::Gelu;
    gelu.loss = plan::Loss::SoftmaxCrossEntropy;
    gelu.optimizer.kind = plan::OptimizerKind::Sgd;
    MlpConfig odd = smallConfig();  // the last layer stays in bf16
    odd.widths = {48, 64, 32, 10};
    odd.bias = false;
    MlpConfig linear = smallConfig();
    linear.activation = plan::Activation::None;
    MlpConfig margin = withRecipe(gelu, plan::RecipeKind::Delayed);
    margin.recipe.margin = 2;
    margin.recipe.amaxAlgorithm = AmaxAlgorithm::MostRecent;
    margin.recipe.gradientFormat = DType::E4m3;
    MlpConfig inexact = withRecipe(smallConfig(), plan::RecipeKind::Rowwise);
    inexact.recipe.powerOfTwo = false;
    inexact.recipe.minAmax = 1e-3;
    MlpConfig floor = withRecipe(wholeBlocks(), plan::RecipeKind::Mxfp8);
    floor.recipe.e8m0Rounding = E8m0Rounding::Floor;
    floor.recipe.gradientFormat = DType::E5m2;
    MlpConfig inexactBlocks = withRecipe(gelu, plan::RecipeKind::Blockwise);
    inexactBlocks.recipe.powerOfTwo = false;
    return {{"rowwise", withRecipe(smallConfig(), plan::RecipeKind::Rowwise)},
            {"rowwise, scales of any value", inexact},
            {"rowwise_with_gw_hp", withRecipe(smallConfig(), plan::RecipeKind::RowwiseWithGwHp)},
            {"blockwise", withRecipe(smallConfig(), plan::RecipeKind::Blockwise)},
            {"blockwise, scales of any value", inexactBlocks},
            {"mxfp8", withRecipe(wholeBlocks(), plan::RecipeKind::Mxfp8)},
            {"mxfp8, floor, e5m2 gradients", floor},
            {"relu, mse, adam", smallConfig()},
            {"gelu, cross-entropy, sgd", gelu},
            {"no bias, 10 outputs", odd},
            {"no activation", linear},
            {"delayed", withRecipe(smallConfig(), plan::RecipeKind::Delayed)},
            {"delayed, margin 2, most recent amax, e4m3 gradients, gelu", margin}};
}

void expectStepLikeReference(CpuExecutor& executor, std::set<OpKind>& seen)
{
    const plan::StepPlan& plan = executor.plan();
    ReferenceStep reference(executor);
    (void)executor.runStep();
    for (const plan::Op& op : plan.ops) {
        seen.insert(op.kind);
        for (const Expected& e : reference.expect(op)) {
            if (!reference.survives(op, e.tensor))
                continue;
            const std::vector<double> actual = reference.valuesAfterStep(e.tensor);
            ASSERT_EQ(actual.size(), e.values.size()) << op.name;
            for (std::size_t i = 0; i < actual.size(); ++i)
                ASSERT_NEAR(actual[i], e.values[i], e.tolerance.empty() ? 0 : e.tolerance[i])
                    << op.name << " -> " << plan.tensor(e.tensor).name << ", element " << i;
        }
    }
}

TEST(OpReferenceTest, EveryOpOfThreeStepsInEveryMode)
{
    std::set<OpKind> seen;
    for (const Variant& variant : variants())
        for (const std::string mode : {"bf16", "fp8", "fp8-fused", "fp8+bias_epilogue+act_epilogue"}) {
            if (mode.ends_with("act_epilogue") && !plan::scalesWholeTensors(variant.config.recipe.kind))
                continue;
            CpuExecutor executor = executorKeepingTensors(variant.config, mode);
            for (int step = 0; step < 3; ++step) {
                SCOPED_TRACE(fmt::format("{}: {}, step {}", variant.name, mode, step));
                ASSERT_NO_FATAL_FAILURE(expectStepLikeReference(executor, seen));
            }
        }
    for (int kind = 0; kind <= static_cast<int>(OpKind::DelayedScaleUpdate); ++kind)
        EXPECT_TRUE(seen.contains(static_cast<OpKind>(kind))) << "no plan used " << toString(static_cast<OpKind>(kind));
}

}  // namespace
}  // namespace fp8scope::cpu
