// SPDX-License-Identifier: Apache-2.0
// Each fusion pass on its own and in the presets: which kernels go, what the fused one reads and writes. That results
// stay the same is proven by execution (tests/engine/cpu).
#include "tests/engine/plan/plan_support.h"

#include "engine/plan/passes.h"
#include "engine/plan/unfused.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::plan {
namespace {

using testing::ElementsAre;

MlpConfig threeLayers() { return configOf({64, 32, 48, 16}, 32); }

StepPlan unfused(const MlpConfig& config) { return buildUnfused(config, {.mode = "fp8", .fp8 = true}); }

TEST(BiasEpilogueTest, TheGemmTakesTheBias)
{
    const StepPlan before = unfused(threeLayers());
    const StepPlan after = fuseBiasEpilogue(before);
    EXPECT_EQ(countKind(before, OpKind::BiasAdd), 3U);
    EXPECT_EQ(countKind(after, OpKind::BiasAdd), 0U);
    EXPECT_EQ(after.ops.size(), before.ops.size() - 3);
    const Op& gemm = opNamed(after, "layer1.fwd.gemm");
    EXPECT_EQ(gemm.gemm->epilogue, Epilogue::Bias);
    EXPECT_EQ(after.tensor(gemm.gemm->bias).name, "layer1.b");
    EXPECT_EQ(namesOf(after, gemm.inputs),
              "layer1.fwd.w.q, layer1.fwd.x.q, layer1.fwd.w.scale_inv, layer1.fwd.x.scale_inv, layer1.b");
    EXPECT_EQ(opNamed(after, "layer1.dgrad.gemm").gemm->epilogue, Epilogue::None);
}

TEST(CastChainTest, AnEagerCastBecomesThreeKernels)
{
    const StepPlan plan = fuseCastChain(unfused(threeLayers()));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Forward),
                ElementsAre("amax_x", "scale_x", "cast_x", "amax_w", "scale_w", "cast_w", "gemm", "bias_add", "act"));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Wgrad),
                ElementsAre("amax_dy", "scale_dy", "cast_dy", "amax_x", "scale_x", "cast_x", "transpose_dy",
                            "transpose_x", "gemm", "bias_grad"));
    const Op& amax = opNamed(plan, "layer1.fwd.amax_x");
    EXPECT_EQ(amax.kind, OpKind::Amax);
    EXPECT_EQ(namesOf(plan, amax.inputs) + " -> " + namesOf(plan, amax.outputs), "layer1.x -> layer1.fwd.x.amax");
    const Op& scale = opNamed(plan, "layer1.dgrad.scale_dy");
    EXPECT_EQ(scale.kind, OpKind::ScaleFromAmax);
    EXPECT_EQ(scale.fp8Type, DType::E5m2);
    EXPECT_EQ(namesOf(plan, scale.inputs) + " -> " + namesOf(plan, scale.outputs),
              "layer1.dgrad.dy.amax -> layer1.dgrad.dy.scale, layer1.dgrad.dy.scale_inv");
    const Op& cast = opNamed(plan, "layer1.fwd.cast_x");
    EXPECT_EQ(cast.kind, OpKind::Cast);
    EXPECT_EQ(namesOf(plan, cast.inputs) + " -> " + namesOf(plan, cast.outputs),
              "layer1.x, layer1.fwd.x.scale -> layer1.fwd.x.q");
    EXPECT_EQ(plan.quantized[static_cast<std::size_t>(cast.quantized)].name, "layer1.x");
    EXPECT_EQ(opNamed(plan, "layer1.wgrad.cast_x").quantized, -1);  // cast again: counted already
}

TEST(CastTransposeTest, EveryTensorIsCastOnceAStep)
{
    const StepPlan plan = fuseCastTranspose(fuseCastChain(unfused(threeLayers())));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Forward),
                ElementsAre("amax_x", "scale_x", "cast_transpose_x", "amax_w", "scale_w", "cast_transpose_w", "gemm",
                            "bias_add", "act"));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Dgrad),
                ElementsAre("act_grad", "amax_dy", "scale_dy", "cast_transpose_dy", "gemm"));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Wgrad), ElementsAre("gemm", "bias_grad"));
    EXPECT_EQ(countKind(plan, OpKind::Transpose), 0U);
    const Op& cast = opNamed(plan, "layer1.fwd.cast_transpose_x");
    EXPECT_EQ(namesOf(plan, cast.inputs) + " -> " + namesOf(plan, cast.outputs),
              "layer1.x, layer1.fwd.x.scale -> layer1.fwd.x.q, layer1.wgrad.x.qt, -");
    const GemmCall& wgrad = *opNamed(plan, "layer1.wgrad.gemm").gemm;
    EXPECT_EQ(plan.tensor(wgrad.aTensor).name, "layer1.wgrad.x.qt");
    EXPECT_EQ(plan.tensor(wgrad.aScale).name, "layer1.fwd.x.scale_inv");
    EXPECT_EQ(plan.tensor(wgrad.bTensor).name, "layer1.wgrad.dy.qt");
    EXPECT_EQ(plan.tensor(wgrad.bScale).name, "layer1.dgrad.dy.scale_inv");
}

TEST(CastTransposeTest, AWeightThatNeedsNoTransposeIsOnlyCast)
{
    const StepPlan plan = fuseCastTranspose(fuseCastChain(unfused(threeLayers())));
    EXPECT_EQ(opNamed(plan, "layer0.fwd.cast_w").kind, OpKind::Cast);
    EXPECT_EQ(opNamed(plan, "layer0.fwd.cast_transpose_x").kind, OpKind::CastTranspose);
}

TEST(CastTransposeTest, WithDelayedScalesTheSamePassFindsTheAmax)
{
    const StepPlan plan = fuseCastTranspose(fuseCastChain(unfused(delayed(threeLayers()))));
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Forward),
                ElementsAre("cast_transpose_x", "cast_transpose_w", "gemm", "bias_add", "act"));
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer1.fwd.cast_transpose_x").outputs),
              "layer1.fwd.x.q, layer1.wgrad.x.qt, layer1.x.amax");
    EXPECT_THAT(opsOfPhase(plan, 0, Phase::Forward),
                ElementsAre("cast_transpose_x", "amax_w", "cast_w", "gemm", "bias_add", "act"));
}

TEST(DbiasCastTransposeTest, TheCastOfDyAlsoSumsTheBiasGradient)
{
    const StepPlan plan = fuseDbiasCastTranspose(fuseCastTranspose(fuseCastChain(unfused(threeLayers()))));
    EXPECT_EQ(countKind(plan, OpKind::BiasGrad), 0U);
    EXPECT_EQ(countKind(plan, OpKind::CastTransposeDbias), 3U);
    const Op& cast = opNamed(plan, "layer1.dgrad.cast_transpose_dbias_dy");
    EXPECT_EQ(namesOf(plan, cast.outputs), "layer1.dgrad.dy.q, layer1.wgrad.dy.qt, -, layer1.db");
    EXPECT_THAT(opsOfPhase(plan, 0, Phase::Wgrad),
                ElementsAre("amax_dy", "scale_dy", "cast_transpose_dbias_dy", "gemm"));
}

TEST(DbiasCastTransposeTest, ABf16LayerKeepsItsBiasGradient)
{
    const StepPlan plan = buildPlan(configOf({64, 32, 10}, 32), "fp8-fused");
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Wgrad), ElementsAre("gemm", "bias_grad"));
}

TEST(ActCastTest, TensorwiseFindsTheAmaxInTheActivation)
{
    const StepPlan plan = fuseActCast(fuseCastChain(unfused(threeLayers())));
    const Op& act = opNamed(plan, "layer0.fwd.act_amax");
    EXPECT_EQ(act.kind, OpKind::ActAmax);
    EXPECT_EQ(namesOf(plan, act.inputs) + " -> " + namesOf(plan, act.outputs),
              "layer0.z -> layer1.x, layer1.fwd.x.amax");
    EXPECT_THAT(opsOfPhase(plan, 1, Phase::Forward),
                ElementsAre("scale_x", "cast_x", "amax_w", "scale_w", "cast_w", "gemm", "bias_add", "act_amax"));
}

TEST(ActCastTest, DelayedCastsInTheActivationAndDropsTheBf16Result)
{
    const StepPlan plan = buildPlan(delayed(threeLayers()), "fp8-fused");
    const Op& act = opNamed(plan, "layer0.fwd.act_cast_transpose");
    EXPECT_EQ(act.kind, OpKind::ActCastTranspose);
    EXPECT_EQ(namesOf(plan, act.inputs) + " -> " + namesOf(plan, act.outputs),
              "layer0.z, layer1.x.scale -> layer1.fwd.x.q, layer1.wgrad.x.qt, layer1.x.amax");
    const QuantizedTensor& x = plan.quantized[static_cast<std::size_t>(act.quantized)];
    EXPECT_EQ(x.name, "layer1.x");
    EXPECT_FALSE(x.source.valid());
    EXPECT_THROW(static_cast<void>(tensorNamed(plan, "layer1.x")), std::runtime_error);
}

TEST(ActCastTest, BeforeABf16LayerTheActivationStaysAlone)
{
    for (const MlpConfig& config : {configOf({64, 32, 10}, 32), delayed(configOf({64, 32, 10}, 32))})
        EXPECT_THAT(opsOfPhase(buildPlan(config, "fp8-fused"), 0, Phase::Forward).back(), "act");
}

TEST(DactDbiasCastTransposeTest, TensorwiseFindsAmaxAndBiasGradientInTheActivationsGradient)
{
    const StepPlan plan = buildPlan(threeLayers(), "fp8-fused");
    const Op& backward = opNamed(plan, "layer1.dgrad.act_grad_amax");
    EXPECT_EQ(namesOf(plan, backward.inputs) + " -> " + namesOf(plan, backward.outputs),
              "layer1.da, layer1.z -> layer1.dy, layer1.dgrad.dy.amax, layer1.db");
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer1.dgrad.cast_transpose_dy").outputs),
              "layer1.dgrad.dy.q, layer1.wgrad.dy.qt, -");
}

TEST(DactDbiasCastTransposeTest, DelayedDoesAllInOneAndKeepsNoBf16Gradient)
{
    const StepPlan plan = buildPlan(delayed(threeLayers()), "fp8-fused");
    const Op& backward = opNamed(plan, "layer1.dgrad.act_grad_cast_transpose");
    EXPECT_EQ(
        namesOf(plan, backward.inputs) + " -> " + namesOf(plan, backward.outputs),
        "layer1.da, layer1.z, layer1.dy.scale -> layer1.dgrad.dy.q, layer1.wgrad.dy.qt, layer1.dy.amax, layer1.db");
    EXPECT_THROW(static_cast<void>(tensorNamed(plan, "layer1.dy")), std::runtime_error);
}

TEST(OptimizerCastTest, TheUpdateWritesTheFp8WeightsOfTheNextStep)
{
    const StepPlan plan = buildPlan(delayed(threeLayers()), "fp8-fused");
    const Op& update = opNamed(plan, "layer1.optimizer_cast");
    EXPECT_EQ(update.kind, OpKind::OptimizerCast);
    EXPECT_EQ(namesOf(plan, update.inputs), "layer1.dw, layer1.db");
    EXPECT_EQ(plan.quantized[static_cast<std::size_t>(update.quantized)].name, "layer1.w");
    const std::vector<TensorId> made(update.outputs.end() - 3, update.outputs.end());
    EXPECT_EQ(namesOf(plan, made), "layer1.fwd.w.q, layer1.dgrad.w.qt, layer1.w.amax");
    EXPECT_TRUE(tensorNamed(plan, "layer1.fwd.w.q").persistent);
    EXPECT_TRUE(tensorNamed(plan, "layer1.dgrad.w.qt").persistent);
    // The first layer has no dgrad, so its weight needs no transpose.
    const Op& first = opNamed(plan, "layer0.optimizer_cast");
    EXPECT_FALSE(first.outputs[first.outputs.size() - 2].valid());
    for (const Op& op : plan.ops)
        EXPECT_FALSE(op.name.ends_with("_w")) << op.name;
}

TEST(OptimizerCastTest, ScalesAreUpdatedBeforeTheWeights)
{
    const StepPlan plan = buildPlan(delayed(threeLayers()), "fp8-fused");
    EXPECT_EQ(plan.ops[plan.ops.size() - 4].kind, OpKind::DelayedScaleUpdate);
    EXPECT_EQ(plan.ops.back().name, "layer2.optimizer_cast");
}

MlpConfig withActEpilogue(MlpConfig config)
{
    config.fusionOverrides = {{"bias_epilogue", true}, {"act_epilogue", true}};
    return config;
}

TEST(ActEpilogueTest, ReluKeepsABitAnElement)
{
    const StepPlan plan = buildPlan(withActEpilogue(threeLayers()), "fp8");
    const Op& gemm = opNamed(plan, "layer0.fwd.gemm");
    EXPECT_EQ(gemm.gemm->epilogue, Epilogue::ReluAuxBias);
    EXPECT_EQ(namesOf(plan, gemm.outputs), "layer1.x, layer0.z.mask");
    EXPECT_EQ(gemm.gemm->auxLd, 128);  // 32 outputs, in whole 128 bits
    EXPECT_EQ(tensorNamed(plan, "layer0.z.mask").bytes(), 32U * 16U);
    EXPECT_EQ(namesOf(plan, opNamed(plan, "layer0.dgrad.act_grad").inputs), "layer0.da, layer0.z.mask");
    EXPECT_EQ(countKind(plan, OpKind::ActForward), 0U);
    EXPECT_THROW(static_cast<void>(tensorNamed(plan, "layer0.z")), std::runtime_error);
    EXPECT_EQ(opNamed(plan, "layer2.fwd.gemm").gemm->epilogue, Epilogue::Bias);
}

TEST(ActEpilogueTest, GeluKeepsItsInputWhereCublasltTakesItsRows)
{
    MlpConfig config = configOf({64, 32, 20, 16}, 32);
    config.activation = Activation::Gelu;
    const StepPlan plan = buildPlan(withActEpilogue(config), "fp8");
    const Op& gemm = opNamed(plan, "layer0.fwd.gemm");
    EXPECT_EQ(gemm.gemm->epilogue, Epilogue::GeluAuxBias);
    EXPECT_EQ(namesOf(plan, gemm.outputs), "layer1.x, layer0.z");
    EXPECT_EQ(gemm.gemm->auxLd, 32);
    EXPECT_EQ(opNamed(plan, "layer1.fwd.gemm").gemm->epilogue, Epilogue::Bias);  // 20 is no multiple of 8
    EXPECT_EQ(opNamed(plan, "layer1.fwd.act").kind, OpKind::ActForward);
}

TEST(ActEpilogueTest, WithoutABackwardThatReadsItNothingIsKept)
{
    MlpConfig config = withActEpilogue(threeLayers());
    config.checkpoint = 3;
    const StepPlan plan = buildPlan(config, "bf16");
    EXPECT_EQ(opNamed(plan, "layer0.fwd.gemm").gemm->epilogue, Epilogue::ReluBias);
    EXPECT_EQ(opNamed(plan, "layer0.recompute.gemm").gemm->epilogue, Epilogue::ReluAuxBias);
}

TEST(FusedPlanTest, TensorwiseLayerTakesThirteenKernels)
{
    const StepPlan plan = buildPlan(threeLayers(), "fp8-fused");
    EXPECT_THAT(opsOfLayer(plan, 1),
                ElementsAre("fwd.scale_x", "fwd.cast_transpose_x", "fwd.amax_w", "fwd.scale_w", "fwd.cast_transpose_w",
                            "fwd.gemm", "fwd.act_amax", "dgrad.act_grad_amax", "dgrad.scale_dy",
                            "dgrad.cast_transpose_dy", "dgrad.gemm", "wgrad.gemm", "optimizer"));
}

TEST(FusedPlanTest, DelayedLayerTakesSixKernels)
{
    const StepPlan plan = buildPlan(delayed(threeLayers()), "fp8-fused");
    EXPECT_THAT(opsOfLayer(plan, 1), ElementsAre("fwd.gemm", "fwd.act_cast_transpose", "dgrad.act_grad_cast_transpose",
                                                 "dgrad.gemm", "wgrad.gemm", "optimizer_cast"));
}

TEST(FusedPlanTest, RolesKeepWhatWasFusedIn)
{
    const auto rolesOf = [](const StepPlan& plan, const std::string& name) {
        const Op& op = opNamed(plan, name);
        std::string text(toString(op.role));
        for (int r = 0; r < kRoleCount; ++r)
            text += op.fused.contains(static_cast<Role>(r)) ? "+" + std::string(toString(static_cast<Role>(r))) : "";
        return text;
    };
    const StepPlan tensorwise = buildPlan(threeLayers(), "fp8-fused");
    EXPECT_EQ(rolesOf(tensorwise, "layer1.fwd.gemm"), "gemm+bias");
    EXPECT_EQ(rolesOf(tensorwise, "layer1.dgrad.gemm"), "gemm");
    EXPECT_EQ(rolesOf(tensorwise, "layer0.fwd.act_amax"), "activation+amax");
    EXPECT_EQ(rolesOf(tensorwise, "layer1.fwd.cast_transpose_x"), "cast_transpose");
    EXPECT_EQ(rolesOf(tensorwise, "layer2.dgrad.cast_transpose_dbias_dy"), "cast_transpose+bias_grad");
    EXPECT_EQ(rolesOf(tensorwise, "layer1.dgrad.act_grad_amax"), "activation_grad+amax+bias_grad");
    const StepPlan late = buildPlan(delayed(threeLayers()), "fp8-fused");
    EXPECT_EQ(rolesOf(late, "layer0.fwd.act_cast_transpose"), "activation+amax+cast_transpose");
    EXPECT_EQ(rolesOf(late, "layer2.dgrad.cast_transpose_dbias_dy"), "cast_transpose+amax+bias_grad");
    EXPECT_EQ(rolesOf(late, "layer1.dgrad.act_grad_cast_transpose"), "activation_grad+amax+cast_transpose+bias_grad");
    EXPECT_EQ(rolesOf(late, "layer1.optimizer_cast"), "optimizer+amax+cast_transpose");
    EXPECT_EQ(rolesOf(late, "delayed_scale_update"), "scale+amax");
}

TEST(FusedPlanTest, EachSwitchAddsToThePlanBefore)
{
    MlpConfig config = threeLayers();
    std::vector<std::size_t> ops{buildPlan(config, "fp8").ops.size()};
    for (const FusionSwitch& fusion : fusionSwitches()) {
        if (!fusionObstacle(fusion, config.recipe.kind).empty() || fusion.name == "act_epilogue")
            continue;  // that one excludes act_cast
        config.fusionOverrides.emplace_back(fusion.name, true);
        ops.push_back(buildPlan(config, "fp8").ops.size());
    }
    // From 223: 3 bias adds; 16 casts of 11 kernels to 3 and 16 reciprocals; 7 casts made once and 8 transposes folded
    // in; 3 bias gradients; 2 amaxes forward and 2 backward. One micro-batch has no weights to cache; a graph changes
    // no op.
    EXPECT_THAT(ops, ElementsAre(223U, 220U, 76U, 47U, 44U, 42U, 40U, 40U, 40U));
}

}  // namespace
}  // namespace fp8scope::plan
