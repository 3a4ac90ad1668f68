// SPDX-License-Identifier: Apache-2.0
// What must hold of every plan, whatever the configuration and the fusions: nothing is read before it is written, GEMMs
// are legal and list their operands, statistics are counted once, no tensor is left over.
#include "tests/engine/plan/plan_support.h"

#include "collector/trace/error.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace fp8scope::plan {
namespace {

void expectReadsFollowWrites(const StepPlan& plan)
{
    std::vector<bool> written(plan.tensors.size());
    for (std::size_t t = 0; t < plan.tensors.size(); ++t)
        written[t] = plan.tensors[t].persistent;
    for (const Op& op : plan.ops) {
        for (const TensorId id : op.inputs) {
            ASSERT_TRUE(id.valid()) << op.name;
            ASSERT_TRUE(written[id.value]) << op.name << " reads " << plan.tensor(id).name;
        }
        for (const TensorId id : op.outputs) {
            if (id.valid())
                written[id.value] = true;
        }
    }
}

void expectGemmsConsistent(const StepPlan& plan)
{
    for (const Op& op : plan.ops) {
        ASSERT_EQ(op.gemm.has_value(), op.kind == OpKind::Gemm) << op.name;
        if (!op.gemm)
            continue;
        EXPECT_EQ(refusal(*op.gemm, targetOf(plan.recipe.kind)), std::nullopt) << op.name;
        const GemmCall& call = *op.gemm;
        std::vector<TensorId> operands{call.aTensor, call.bTensor};
        for (const TensorId optional : {call.aScale, call.bScale, call.bias}) {
            if (optional.valid())
                operands.push_back(optional);
        }
        EXPECT_EQ(op.inputs, operands) << op.name;
        std::vector<TensorId> results{call.dTensor};
        if (call.aux.valid())
            results.push_back(call.aux);
        EXPECT_EQ(op.outputs, results) << op.name;
        if (call.bias.valid()) {
            EXPECT_EQ(plan.tensor(call.bias).type, call.biasType) << op.name;
        }
    }
}

void expectStatisticsOnce(const StepPlan& plan)
{
    std::map<int, std::multiset<OpKind>> kinds;
    for (const Op& op : plan.ops) {
        const bool firstPart = op.microBatch == 0;  // later ones count their own activations, and weights again
        if (op.quantized >= 0 && (firstPart || !kinds.contains(op.quantized) || !op.name.ends_with("_w")))
            kinds[op.quantized].insert(op.kind);
    }
    ASSERT_EQ(kinds.size(), plan.quantized.size());
    for (const auto& [index, counting] : kinds) {
        const bool eager = counting == std::multiset{OpKind::Clamp, OpKind::ToFp8};
        EXPECT_TRUE(eager || counting.size() == 1) << plan.quantized[static_cast<std::size_t>(index)].name;
    }
}

void expectNoTensorUnused(const StepPlan& plan)
{
    for (const Tensor& tensor : plan.tensors) {
        EXPECT_GE(tensor.firstUse, 0) << tensor.name;
        EXPECT_GE(tensor.lastUse, tensor.firstUse) << tensor.name;
    }
}

void expectUniqueNames(const StepPlan& plan)
{
    std::set<std::string> ops, tensors;
    for (const Op& op : plan.ops)
        EXPECT_TRUE(ops.insert(op.name).second) << op.name;
    for (const Tensor& tensor : plan.tensors)
        EXPECT_TRUE(tensors.insert(tensor.name).second) << tensor.name;
}

void expectWellFormed(const StepPlan& plan)
{
    expectReadsFollowWrites(plan);
    expectGemmsConsistent(plan);
    expectStatisticsOnce(plan);
    expectNoTensorUnused(plan);
    expectUniqueNames(plan);
}

/// Every subset of the switches; nullopt-like (false) where the combination is refused.
template <typename Visit>
int forEachLegalFusion(const MlpConfig& base, Visit visit)
{
    int legal = 0;
    constexpr std::size_t kSwitches = 10;  // all that change ops: not the last, graph
    for (unsigned bits = 0; bits < 1U << kSwitches; ++bits) {
        MlpConfig config = base;
        for (std::size_t i = 0; i < kSwitches; ++i)
            config.fusionOverrides.emplace_back(fusionSwitches()[i].name, (bits >> i & 1U) != 0);
        try {
            visit(config, settingsFor(config, "fp8"));
            ++legal;
        } catch (const Error&) {
        }
    }
    return legal;
}

TEST(WellFormedPlanTest, AllLegalFusionsOfAllShapes)
{
    for (const auto& widths : std::vector<std::vector<std::int64_t>>{{64, 32}, {64, 32, 10, 48, 16}, {20, 16, 16}}) {
        for (const RecipeKind recipe : {RecipeKind::Tensorwise, RecipeKind::Delayed}) {
            for (const bool bias : {true, false}) {
                for (const Activation activation : {Activation::Relu, Activation::None}) {
                    MlpConfig config = configOf(widths, 32);
                    config.recipe.kind = recipe;
                    config.bias = bias;
                    config.activation = activation;
                    const int legal = forEachLegalFusion(config, [](const MlpConfig& c, const ModeSettings& settings) {
                        SCOPED_TRACE(toToml(c));
                        expectWellFormed(buildPlan(c, settings));
                    });
                    // Tensorwise: 5 ways of casts without act_cast and 4 with it; delayed, with optimizer_cast: 8 and
                    // 6. Times 2 for weight_cache; times 2 for bias_epilogue, but act_epilogue, which excludes
                    // act_cast, needs that if there is a bias.
                    const int without = recipe == RecipeKind::Tensorwise ? 5 : 8;
                    const int with = recipe == RecipeKind::Tensorwise ? 4 : 6;
                    EXPECT_EQ(legal, 2 * (2 * (without + with) + without * (bias ? 1 : 2)));
                }
            }
        }
    }
}

TEST(WellFormedPlanTest, AllLegalFusionsOfScalesForRowsAndBlocks)
{
    const auto legalCount = [](RecipeKind recipe) {
        switch (recipe) {
        case RecipeKind::Rowwise: return 8 * (1 + 2 + 4);          // ... and the scale epilogue
        case RecipeKind::RowwiseWithGwHp: return 4 * (1 + 2 + 2);  // no dbias
        case RecipeKind::Blockwise: return 4 * (1 + 2);            // no chain, no dbias
        default: return 4 * (1 + 1 + 4);                           // mxfp8: as delayed
        }
    };
    for (const RecipeKind recipe :
         {RecipeKind::Rowwise, RecipeKind::RowwiseWithGwHp, RecipeKind::Blockwise, RecipeKind::Mxfp8}) {
        for (const auto& widths : std::vector<std::vector<std::int64_t>>{{64, 32}, {64, 32, 10, 96, 160}}) {
            MlpConfig config = configOf(widths, 64);
            config.recipe.kind = recipe;
            const int legal = forEachLegalFusion(config, [](const MlpConfig& c, const ModeSettings& settings) {
                SCOPED_TRACE(toToml(c));
                expectWellFormed(buildPlan(c, settings));
            });
            EXPECT_EQ(legal, legalCount(recipe)) << toString(recipe);
        }
    }
}

bool isLegal(const MlpConfig& config, std::string_view mode)
{
    try {
        static_cast<void>(settingsFor(config, mode));
        return true;
    } catch (const Error&) {
        return false;
    }
}

TEST(WellFormedPlanTest, MicroBatchesAndRecomputation)
{
    for (const int checkpoint : {0, 1, 2, 5}) {
        for (const int parts : {1, 2}) {
            for (const RecipeKind recipe : {RecipeKind::Tensorwise, RecipeKind::Delayed, RecipeKind::Rowwise,
                                            RecipeKind::RowwiseWithGwHp, RecipeKind::Blockwise, RecipeKind::Mxfp8}) {
                MlpConfig config = configOf({64, 32, 10, 96, 32}, 64);
                config.recipe.kind = recipe;
                config.microBatches = parts;
                config.checkpoint = checkpoint;
                config.alwaysDgrad = true;
                SCOPED_TRACE(toToml(config));
                expectWellFormed(buildPlan(config, "bf16"));
                for (const char* mode : {"fp8", "fp8+cast_chain+cast_transpose", "fp8-fused",
                                         "fp8+bias_epilogue+act_epilogue+weight_cache"}) {
                    if (isLegal(config, mode))
                        expectWellFormed(buildPlan(config, mode));
                }
            }
        }
    }
}

TEST(WellFormedPlanTest, Bf16) { expectWellFormed(buildPlan(configOf({64, 33, 10}, 7), "bf16")); }

TEST(WellFormedPlanTest, AThousandLayers)
{
    const MlpConfig config = configOf(std::vector<std::int64_t>(1001, 64), 32);
    expectWellFormed(buildPlan(config, "fp8"));
    expectWellFormed(buildPlan(config, "fp8-fused"));
}

}  // namespace
}  // namespace fp8scope::plan
