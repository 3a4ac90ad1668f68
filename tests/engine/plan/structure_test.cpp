// SPDX-License-Identifier: Apache-2.0
// How a step is put together: micro-batches, recomputation, the first layer's dgrad, and which layers run in fp8. That
// results stay the same is proven by execution (tests/engine/cpu/structure_test.cpp).
#include "tests/engine/plan/plan_support.h"

#include "collector/trace/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusalOf(const MlpConfig& config)
{
    try {
        static_cast<void>(buildPlan(config, "fp8"));
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

std::vector<std::string> reasons(const MlpConfig& config)
{
    std::vector<std::string> all;
    for (const LayerPlan& layer : buildPlan(config, "fp8").layers) {
        EXPECT_EQ(layer.fp8, layer.reason.empty());
        all.push_back(layer.reason);
    }
    return all;
}

TEST(LayerFilterTest, SmallLayersStayInBf16)
{
    MlpConfig config = configOf({64, 128, 32, 64}, 32);
    config.filter.minK = 64;
    EXPECT_THAT(reasons(config), ElementsAre("", "", "in features 32 below filter.min_k 64"));
    config.filter.minK = 1;
    config.filter.minN = 64;
    EXPECT_THAT(reasons(config), ElementsAre("", "out features 32 below filter.min_n 64", ""));
    config.filter.minN = 1;
    config.filter.multipleOf = 64;
    EXPECT_THAT(reasons(config), ElementsAre("", "out features 32 is not a multiple of 64 (filter.multiple_of)",
                                             "in features 32 is not a multiple of 64 (filter.multiple_of)"));
}

TEST(LayerFilterTest, LayersStayInBf16ByNameAndPlace)
{
    MlpConfig config = configOf({32, 32, 32, 32, 32}, 32);
    config.filter.firstLayerBf16 = config.filter.lastLayerBf16 = true;
    config.filter.skip = {"*2"};
    EXPECT_THAT(reasons(config), ElementsAre("the first layer (filter.first_layer_bf16)", "",
                                             "named by filter.skip '*2'", "the last layer (filter.last_layer_bf16)"));
}

TEST(LayerFilterTest, TorchaosRuleKnowsItsRecipes)
{
    MlpConfig config = configOf({4096, 1024, 2048, 4112, 1024}, 32);
    config.filter.torchaoAuto = true;
    EXPECT_THAT(reasons(config),
                ElementsAre("torchao's tensorwise rule: 4096 in features, at most 4096, with 1024 out features, at "
                            "most 1024",
                            "", "", ""));
    EXPECT_EQ(refusalOf(delayed(config)), "filter.torchao_auto: key 'filter.torchao_auto' needs the recipe tensorwise "
                                          "or rowwise: torchao has no rule for delayed");
}

TEST(LayerFilterTest, APatternThatNamesNoLayerIsRefusedWithTheNearest)
{
    MlpConfig config = configOf({32, 32, 32}, 32);
    config.filter.skip = {"layer1", "layr0"};
    EXPECT_EQ(refusalOf(config), "filter.skip: key 'filter.skip' has 'layr0', which names no layer; did you mean "
                                 "'layer0'?");
    config.filter.skip = {"decoder.*"};
    EXPECT_EQ(refusalOf(config), "filter.skip: key 'filter.skip' has 'decoder.*', which names no layer; the layers are "
                                 "layer0 to layer1");
}

TEST(LayerFilterTest, Bf16ModesNeedNoReason)
{
    MlpConfig config = configOf({32, 32}, 32);
    config.filter.firstLayerBf16 = true;
    EXPECT_EQ(buildPlan(config, "bf16").layers[0].reason, "");
}

TEST(AlwaysDgradTest, TheFirstFp8LayerComputesItsInputGradient)
{
    MlpConfig config = configOf({64, 32, 16}, 32);
    EXPECT_THAT(opsOfPhase(buildPlan(config, "fp8"), 0, Phase::Dgrad), ElementsAre("act_grad"));
    config.alwaysDgrad = true;
    const StepPlan plan = buildPlan(config, "fp8-fused");
    EXPECT_THAT(opsOfPhase(plan, 0, Phase::Dgrad),
                ElementsAre("act_grad_amax", "scale_dy", "cast_transpose_dy", "gemm"));
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer0.dgrad.gemm").outputs), "layer0.dx");
    EXPECT_EQ(tensorNamed(plan, "layer0.dx").cols, 64);
    EXPECT_THAT(opsOfPhase(buildPlan(config, "bf16"), 0, Phase::Dgrad), ElementsAre("act_grad"));  // as PyTorch
}

TEST(MicroBatchesTest, EachPartRunsForwardAndBackwardBeforeOneUpdate)
{
    MlpConfig config = configOf({32, 32, 16}, 64);
    config.microBatches = 2;
    const StepPlan plan = buildPlan(config, "bf16");
    std::vector<std::string> names;
    for (const Op& op : plan.ops)
        names.push_back(op.name);
    EXPECT_THAT(names,
                ElementsAre("mb0.load_batch", "mb0.layer0.fwd.gemm", "mb0.layer0.fwd.act", "mb0.layer1.fwd.gemm",
                            "mb0.loss", "mb0.layer1.dgrad.gemm", "mb0.layer1.wgrad.gemm", "mb0.layer1.wgrad.bias_grad",
                            "mb0.layer0.dgrad.act_grad", "mb0.layer0.wgrad.gemm", "mb0.layer0.wgrad.bias_grad",
                            "mb1.load_batch", "mb1.layer0.fwd.gemm", "mb1.layer0.fwd.act", "mb1.layer1.fwd.gemm",
                            "mb1.loss", "mb1.layer1.dgrad.gemm", "mb1.layer1.wgrad.gemm", "mb1.layer1.wgrad.bias_grad",
                            "mb1.layer0.dgrad.act_grad", "mb1.layer0.wgrad.gemm", "mb1.layer0.wgrad.bias_grad",
                            "layer0.optimizer", "layer1.optimizer"));
    EXPECT_EQ(tensorNamed(plan, "mb1.layer0.x").rows, 32);
    EXPECT_EQ(plan.tensor(plan.input).name, "mb0.layer0.x");
}

TEST(MicroBatchesTest, GradientsAndLossAddUp)
{
    MlpConfig config = configOf({32, 32, 16}, 64);
    config.microBatches = 2;
    config.wgradType = DType::F32;
    const StepPlan plan = buildPlan(config, "fp8");
    const Op& first = opNamed(plan, "mb0.layer1.wgrad.gemm");
    const Op& second = opNamed(plan, "mb1.layer1.wgrad.gemm");
    EXPECT_EQ(first.gemm->beta, 0);
    EXPECT_EQ(second.gemm->beta, 1);
    EXPECT_EQ(first.outputs, second.outputs);
    EXPECT_EQ(first.gemm->d.type, DType::F32);
    EXPECT_EQ(second.bytes - first.bytes, 32U * 16U * 4U);  // the sum so far is read as well
    EXPECT_FALSE(opNamed(plan, "mb0.layer0.wgrad.bias_grad").accumulate);
    EXPECT_TRUE(opNamed(plan, "mb1.layer0.wgrad.bias_grad").accumulate);
    EXPECT_TRUE(opNamed(plan, "mb1.loss").accumulate);
    EXPECT_FALSE(opNamed(plan, "mb1.layer0.dgrad.act_grad").accumulate);
}

TEST(MicroBatchesTest, PartsHaveStatisticsOfTheirOwnAndWeightsOne)
{
    MlpConfig config = configOf({32, 16}, 64);
    config.microBatches = 2;
    std::vector<std::string> names;
    for (const QuantizedTensor& entry : buildPlan(config, "fp8").quantized)
        names.push_back(entry.name);
    EXPECT_THAT(names, ElementsAre("mb0.layer0.x", "layer0.w", "mb0.layer0.dy", "mb1.layer0.x", "mb1.layer0.dy"));
}

TEST(MicroBatchesTest, WeightsAreCastInEveryPartUnlessCached)
{
    MlpConfig config = configOf({32, 32, 16}, 64);
    config.microBatches = 2;
    config.fusionOverrides = {{"weight_cache", false}};
    const StepPlan every = buildPlan(config, "fp8-fused");
    EXPECT_THAT(opsOfPhase(every, 1, Phase::Forward),
                ElementsAre("scale_x", "cast_transpose_x", "amax_w", "scale_w", "cast_transpose_w", "gemm", "scale_x",
                            "cast_transpose_x", "amax_w", "scale_w", "cast_transpose_w", "gemm"));
    config.fusionOverrides = {{"weight_cache", true}};
    for (const MlpConfig& each : {config, delayed(config)}) {
        const StepPlan cached = buildPlan(each, "fp8-fused");
        EXPECT_EQ(opNamed(cached, "mb1.layer1.fwd.gemm").gemm->aTensor,
                  opNamed(cached, "mb0.layer1.fwd.gemm").gemm->aTensor);
        EXPECT_EQ(opNamed(cached, "mb1.layer1.dgrad.gemm").gemm->aTensor,
                  opNamed(cached, "mb0.layer1.dgrad.gemm").gemm->aTensor);
        for (const Op& op : cached.ops)
            EXPECT_FALSE(op.microBatch == 1 && op.name.ends_with("_w")) << op.name;
    }
    // Eager: two casts of 11 kernels for layer 1's weight, one for layer 0's, which has no dgrad; one transpose and
    // three reciprocals.
    config.fusionOverrides = {};
    const std::size_t before = buildPlan(config, "fp8").ops.size();
    config.fusionOverrides = {{"weight_cache", true}};
    EXPECT_EQ(before - buildPlan(config, "fp8").ops.size(), 3U * 11U + 1U + 3U);
}

TEST(MicroBatchesTest, MustDivideTheBatch)
{
    MlpConfig config = configOf({32, 16}, 100);
    config.microBatches = 3;
    EXPECT_EQ(refusalOf(config),
              "micro_batches: key 'micro_batches' must divide the batch: 100 rows are not 3 equal parts");
    config.microBatches = 0;
    EXPECT_EQ(refusalOf(config), "micro_batches: a batch has at least one part, not 0");
}

TEST(MicroBatchesTest, TheRowsOfAPartDecideWhetherFp8Can)
{
    MlpConfig config = configOf({32, 16}, 48);
    config.microBatches = 2;
    EXPECT_THAT(reasons(config), ElementsAre("batch 24 is not a multiple of 16"));
}

TEST(CheckpointTest, BackwardRunsTheForwardOpsThatItNeedsAgain)
{
    MlpConfig config = configOf({32, 32, 32, 16}, 32);
    config.checkpoint = 1;
    const StepPlan plan = buildPlan(config, "bf16");
    // The last layer has no activation to undo, so nothing of it runs again.
    EXPECT_THAT(opsOfLayer(plan, 2),
                ElementsAre("fwd.gemm", "dgrad.gemm", "wgrad.gemm", "wgrad.bias_grad", "optimizer"));
    EXPECT_THAT(opsOfLayer(plan, 1), ElementsAre("fwd.gemm", "fwd.act", "recompute.gemm", "dgrad.act_grad",
                                                 "dgrad.gemm", "wgrad.gemm", "wgrad.bias_grad", "optimizer"));
    EXPECT_TRUE(opNamed(plan, "layer1.recompute.gemm").recompute);
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer1.dgrad.act_grad").inputs), "layer1.da, layer1.recompute.z");
}

TEST(CheckpointTest, InABlockTheActivationsInsideRunAgainToo)
{
    MlpConfig config = configOf({32, 32, 32, 16}, 32);
    config.checkpoint = 3;
    const StepPlan plan = buildPlan(config, "bf16");
    std::vector<std::string> again;
    for (const Op& op : plan.ops) {
        if (op.recompute)
            again.push_back(op.name);
    }
    EXPECT_THAT(again, ElementsAre("layer0.recompute.gemm", "layer0.recompute.act", "layer1.recompute.gemm",
                                   "layer1.recompute.act"));
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer2.wgrad.gemm").inputs), "layer2.recompute.x, layer2.dy");
}

TEST(CheckpointTest, CastsRepeat)
{
    MlpConfig config = configOf({32, 32, 16}, 32);
    config.checkpoint = 1;
    const auto recomputed = [](const StepPlan& plan) {
        std::vector<std::string> names;
        for (const Op& op : plan.ops) {
            if (op.recompute)
                names.push_back(op.name);
        }
        return names;
    };
    config.fusionOverrides = {{"cast_chain", true}};
    EXPECT_THAT(recomputed(buildPlan(config, "fp8")),
                ElementsAre("layer0.recompute.amax_x", "layer0.recompute.scale_x", "layer0.recompute.cast_x",
                            "layer0.recompute.amax_w", "layer0.recompute.scale_w", "layer0.recompute.cast_w",
                            "layer0.recompute.gemm", "layer0.recompute.bias_add"));
    config.fusionOverrides = {};
    const StepPlan fused = buildPlan(config, "fp8-fused");
    // x is cast again, now with the transpose for wgrad; the weight's cast of the forward pass serves again.
    EXPECT_THAT(recomputed(fused), ElementsAre("layer0.recompute.amax_x", "layer0.recompute.scale_x",
                                               "layer0.recompute.cast_transpose_x", "layer0.recompute.gemm"));
    EXPECT_EQ(opNamed(fused, "layer0.fwd.cast_x").kind, OpKind::Cast);
}

TEST(CheckpointTest, SavesActivations)
{
    MlpConfig config = configOf(std::vector<std::int64_t>(9, 64), 512);
    for (const std::string mode : {"bf16", "fp8", "fp8-fused"}) {
        const std::size_t kept = buildPlan(config, mode).arenaBytes;
        MlpConfig recomputing = config;
        recomputing.checkpoint = 4;
        // 16 activations of 512 x 64 in bf16 against two inputs and what one block needs.
        EXPECT_LT(buildPlan(recomputing, mode).arenaBytes + 5U * 512U * 64U * 2U, kept) << mode;
    }
}

}  // namespace
}  // namespace fp8scope::plan
