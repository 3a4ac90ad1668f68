// SPDX-License-Identifier: Apache-2.0
// Planted causes: each run has one known fault; its rule fires with the gain that mending it really gives, and nothing
// ranks above it. Healthy runs raise notes at most.
#include "app/analysis/overview.h"
#include "tests/app/analysis/planted_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::analysis {
namespace {

using test::PlantedMode;
using test::PlantedModel;
using testing::HasSubstr;

struct Advice {
    Trace trace;
    std::vector<Breakdown> runs;
    std::vector<SpeedupAccount> accounts;
    std::vector<Finding> findings;
};

Advice adviceFor(const Device& device, const PlantedModel& model, const std::vector<PlantedMode>& modes)
{
    Advice a{.trace = test::plantedTrace(device, model, modes)};
    a.runs = breakdowns(a.trace);
    a.accounts = accounts(a.trace, a.runs);
    a.findings = advise({a.trace, a.runs, a.accounts});
    return a;
}

std::int64_t stepOf(const Device& device, const PlantedModel& model, const PlantedMode& mode)
{
    return breakdown(test::plantedTrace(device, model, {mode}), RunId(0)).stepNs;
}

const Finding* find(const Advice& a, std::string_view rule)
{
    const auto found =
        std::find_if(a.findings.begin(), a.findings.end(), [&](const Finding& f) { return f.rule == rule; });
    return found == a.findings.end() ? nullptr : &*found;
}

/// The rule is first, its gain within 20% of the truth, the truth inside its interval, and it carries all that a reader
/// needs.
void expectFirst(const Advice& a, std::string_view rule, std::int64_t truthNs)
{
    ASSERT_FALSE(a.findings.empty());
    const Finding& f = a.findings.front();
    EXPECT_EQ(f.rule, rule);
    const auto truth = static_cast<double>(truthNs);
    EXPECT_NEAR(static_cast<double>(f.gainNs), truth, 0.2 * truth);
    EXPECT_LE(f.gain.low, truth * 1.001);
    EXPECT_GE(f.gain.high, truth * 0.999);
    EXPECT_FALSE(f.title.empty());
    EXPECT_FALSE(f.why.empty());
    EXPECT_FALSE(f.formula.empty());
    EXPECT_FALSE(f.wrongIf.empty());
    EXPECT_FALSE(f.options.empty());
    ASSERT_FALSE(f.evidence.empty());
}

void expectPatch(const Finding& f, const std::string& key, const std::string& value)
{
    const bool has = std::any_of(f.change.begin(), f.change.end(),
                                 [&](const ConfigPatch& p) { return p.key == key && p.value == value; });
    EXPECT_TRUE(has) << f.rule << " does not set " << key << " = " << value;
}

TEST(Advise, SeparateBiasKernels)
{
    PlantedMode separate = test::fusedFp8Mode();
    separate.biasEpilogue = false;
    const Advice a = adviceFor(test::h100(), {}, {separate});
    expectFirst(a, "bias-epilogue",
                stepOf(test::h100(), {}, separate) - stepOf(test::h100(), {}, test::fusedFp8Mode()));
    EXPECT_THAT(a.findings[0].title, HasSubstr("3 separate bias kernels"));
    EXPECT_FALSE(a.findings[0].evidence[0].slices.empty());
    expectPatch(a.findings[0], "fusion.bias_epilogue", "true");
}

TEST(Advise, EagerCastsEstimatedFromBytes)
{
    PlantedMode eager = test::fusedFp8Mode();
    eager.castChain = eager.castTranspose = eager.dbiasInCast = eager.actCast = false;
    PlantedMode mended = eager;
    mended.castChain = mended.castTranspose = true;
    const Advice a = adviceFor(test::h100(), {}, {eager});
    expectFirst(a, "fuse-casts", stepOf(test::h100(), {}, eager) - stepOf(test::h100(), {}, mended));
    expectPatch(a.findings[0], "fusion.cast_chain", "true");
    expectPatch(a.findings[0], "fusion.cast_transpose", "true");
    EXPECT_THAT(a.findings[0].formula, HasSubstr("bytes an element"));
}

TEST(Advise, SeparateTransposesEstimatedFromBytes)
{
    PlantedMode chain = test::fusedFp8Mode();
    chain.castTranspose = chain.dbiasInCast = chain.actCast = false;
    PlantedMode mended = chain;
    mended.castTranspose = true;
    const Advice a = adviceFor(test::h100(), {}, {chain});
    expectFirst(a, "fuse-casts", stepOf(test::h100(), {}, chain) - stepOf(test::h100(), {}, mended));
    EXPECT_THAT(a.findings[0].title, HasSubstr("Fuse cast and transpose"));
    ASSERT_EQ(a.findings[0].change.size(), 1U);  // the cast chain is on already
}

TEST(Advise, EagerCastsMeasuredWhereAFusedRunIsBeside)
{
    PlantedMode plain = test::plainFp8Mode();
    plain.biasEpilogue = true;
    const Advice a = adviceFor(test::h100(), {}, {plain, test::fusedFp8Mode()});
    expectFirst(a, "fuse-casts", a.runs[0].stepNs - a.runs[1].stepNs);
    EXPECT_EQ(a.findings[0].run, RunId(0));
    EXPECT_THAT(a.findings[0].formula, HasSubstr("measured"));
    for (const char* key :
         {"fusion.cast_chain", "fusion.cast_transpose", "fusion.dbias_cast_transpose", "fusion.act_cast"})
        expectPatch(a.findings[0], key, "true");
}

TEST(Advise, BiasGradientOutsideTheCast)
{
    PlantedMode separate = test::fusedFp8Mode();
    separate.dbiasInCast = false;
    const Advice a = adviceFor(test::h100(), {}, {separate});
    expectFirst(a, "bias-gradient",
                stepOf(test::h100(), {}, separate) - stepOf(test::h100(), {}, test::fusedFp8Mode()));
    expectPatch(a.findings[0], "fusion.dbias_cast_transpose", "true");
}

TEST(Advise, SlowBiasGradientsInSixteenBitAskForNoBias)
{
    const PlantedModel slowPasses{.bytesPerSecond = 5e11, .optimizerNs = 100'000};
    const Advice a = adviceFor(test::h100(), slowPasses, {test::bf16Mode()});
    expectFirst(a, "bias-gradient", a.runs[0].roles[static_cast<std::size_t>(Role::BiasGrad)].exposedNs);
    expectPatch(a.findings[0], "bias", "false");
}

TEST(Advise, AmaxOutsideTheActivation)
{
    PlantedMode separate = test::fusedFp8Mode();
    separate.actCast = false;
    const Advice a = adviceFor(test::h100(), {}, {separate});
    expectFirst(a, "act-cast", stepOf(test::h100(), {}, separate) - stepOf(test::h100(), {}, test::fusedFp8Mode()));
    expectPatch(a.findings[0], "fusion.act_cast", "true");
}

TEST(Advise, ALayerTooSmallForFp8)
{
    const PlantedModel model{.widths = {4096, 4096, 4096, 128}};
    const Advice a = adviceFor(test::h100(), model, {test::bf16Mode(), test::fusedFp8Mode()});
    const LayerTime& fp8 = a.runs[1].layers[2];
    const LayerTime& bf16 = a.runs[0].layers[2];
    expectFirst(a, "small-layers",
                fp8.family(Family::GemmFp8) + fp8.family(Family::Quantization) - bf16.family(Family::Gemm16));
    EXPECT_THAT(a.findings[0].title, HasSubstr("Keep layer2 (N = 128) in 16 bit"));
    EXPECT_EQ(a.findings[0].evidence.size(), 1U);
    EXPECT_EQ(a.findings[0].evidence[0].layer, fp8.layer);
}

TEST(Advise, LayersAreNotCalledSmallForUnfusedCasts)
{
    // Every layer loses to bf16 with eager casts, none with fused ones (a first real run on a CPU put this above
    // fuse-casts).
    const Advice alone = adviceFor(test::h100(), {}, {test::bf16Mode(), test::plainFp8Mode()});
    EXPECT_EQ(find(alone, "small-layers"), nullptr);
    EXPECT_EQ(alone.findings.at(0).rule, "fuse-casts");
    const PlantedModel model{.widths = {4096, 4096, 4096, 128}};
    const Advice beside =
        adviceFor(test::h100(), model, {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
    EXPECT_EQ(beside.findings.at(0).rule, "fuse-casts");
    ASSERT_NE(find(beside, "small-layers"), nullptr);
    EXPECT_EQ(find(beside, "small-layers")->run, RunId(2));
}

TEST(Advise, AWidthThatIsNoMultipleOf16)
{
    const PlantedModel model{.widths = {4096, 4096, 4096, 4090}};
    const PlantedModel padded{.widths = {4096, 4096, 4096, 4096}};
    const Advice a = adviceFor(test::h100(), model, {test::bf16Mode(), test::fusedFp8Mode()});
    expectFirst(a, "unaligned-dims", a.runs[1].stepNs - stepOf(test::h100(), padded, test::fusedFp8Mode()));
    expectPatch(a.findings[0], "widths", "[4096, 4096, 4096, 4096]");
    EXPECT_THAT(a.findings[0].title, HasSubstr("layer2 runs in 16 bit"));
}

TEST(Advise, ABatchThatIsNoMultipleOf16KeepsAllLayersOut)
{
    const Advice a = adviceFor(test::h100(), {.batch = 16380}, {test::bf16Mode(), test::fusedFp8Mode()});
    const Finding* f = find(a, "unaligned-dims");
    ASSERT_NE(f, nullptr);
    EXPECT_THAT(f->title, HasSubstr("3 layers run in 16 bit"));
    ASSERT_EQ(f->change.size(), 1U);
    expectPatch(*f, "batch", "16384");
}

TEST(Advise, ASlowOptimizerAsksForALargerBatch)
{
    const PlantedModel model{.batch = 8192, .optimizerNs = 1'000'000};
    PlantedModel twice = model;
    twice.batch = 16384;
    const Advice a = adviceFor(test::h100(), model, {test::bf16Mode(), test::fusedFp8Mode()});
    const std::int64_t now = stepOf(test::h100(), model, test::fusedFp8Mode());
    expectFirst(a, "larger-batch", now - stepOf(test::h100(), twice, test::fusedFp8Mode()) / 2);
    expectPatch(a.findings[0], "batch", "16384");
}

TEST(Advise, GapsAskForALargerBatch)
{
    const PlantedModel model{.gapNs = 4'000'000};
    const Advice a = adviceFor(test::h100(), model, {test::fusedFp8Mode()});
    expectFirst(a, "larger-batch", 2'000'000 + 200'000);  // half the gap, and of optimizer and weight casts
    EXPECT_THAT(a.findings[0].evidence[0].text, HasSubstr("gaps 4.00 ms"));
}

TEST(Advise, FewStepsAreANote)
{
    const Advice a = adviceFor(test::h100(), {.steps = 4}, {test::bf16Mode(), test::fusedFp8Mode()});
    const Finding* f = find(a, "few-steps");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->title, "Measure more steps: only 4 were used of bf16, fp8-fused");
    EXPECT_EQ(f->gainNs, 0);
    EXPECT_EQ(f->evidence.size(), 2U);
    expectPatch(*f, "steps", "30");
}

TEST(Advise, StepsThatVaryAreANote)
{
    PlantedMode noisy = test::bf16Mode();
    noisy.noise = 0.4;
    const Advice a = adviceFor(test::h100(), {}, {noisy});
    const Finding* f = find(a, "few-steps");
    ASSERT_NE(f, nullptr);
    EXPECT_THAT(f->title, HasSubstr("Steps of bf16 vary"));
}

TEST(Advise, HealthyRunsRaiseNotesAtMost)
{
    const Advice a = adviceFor(test::h100(), {}, {test::bf16Mode(), test::fusedFp8Mode()});
    EXPECT_LT(a.accounts[0].toNs, a.accounts[0].fromNs);
    for (const Finding& f : a.findings)
        EXPECT_EQ(f.gainNs, 0) << f.rule << ": " << f.title;
    EXPECT_EQ(find(a, "stay-on-bf16"), nullptr);
    EXPECT_EQ(find(a, "few-steps"), nullptr);
}

TEST(Advise, WhatIsOnIsNeverAdvised)
{
    const Advice a = adviceFor(test::h100(), {}, {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
    for (const Finding& f : a.findings) {
        if (f.run != RunId(2))
            continue;
        for (const ConfigPatch& p : f.change)
            EXPECT_THAT(p.key, testing::Not(testing::StartsWith("fusion."))) << f.rule;
    }
    for (const Finding& f : a.findings)
        EXPECT_FALSE(f.run == RunId(0) && f.rule == "bias-epilogue");
}

TEST(Advise, SlowFp8OnAGpuIsSaidPlainly)
{
    const PlantedModel small{.widths = {256, 256, 256}};
    const Advice a = adviceFor(test::h100(), small, {test::bf16Mode(), test::plainFp8Mode()});
    const Finding* f = find(a, "stay-on-bf16");
    ASSERT_NE(f, nullptr);
    EXPECT_THAT(f->title, HasSubstr("Stay on bf16 for this model as it is"));
}

TEST(AdviseOnACpu, Fp8IsNeverSaidToBeFaster)
{
    const PlantedModel model{.batch = 1024,
                             .widths = {1024, 1024, 1000},
                             .gemm16FlopsPerSecond = 2e11,
                             .fp8Ratio = 0.95,
                             .bytesPerSecond = 8e9};
    const Advice a =
        adviceFor(test::cpuWithoutFp8(), model, {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
    const Finding* note = find(a, "stay-on-bf16");
    ASSERT_NE(note, nullptr);
    EXPECT_EQ(note->title, "Stay on bf16 on this CPU: it has no FP8 units");
    EXPECT_EQ(note->gainNs, 0);
    const Finding* unaligned = find(a, "unaligned-dims");
    ASSERT_NE(unaligned, nullptr);
    EXPECT_EQ(unaligned->gainNs, 0);
    for (const Finding& f : a.findings) {
        EXPECT_THAT(f.title + f.why, testing::Not(HasSubstr("faster"))) << f.rule;
        const bool ofFp8 = f.run != RunId(0) && f.rule != "stay-on-bf16" && f.rule != "few-steps";
        if (ofFp8) {
            EXPECT_THAT(f.title, testing::StartsWith("In fp8")) << f.rule;
        }
    }
    EXPECT_NE(find(a, "fuse-casts"), nullptr);
}

TEST(AdviseOnACpu, OnlyLayersWhoseQuantizationOutweighsTheirGemmsStandOut)
{
    const PlantedModel model{
        .batch = 1024, .widths = {2048, 2048, 64}, .gemm16FlopsPerSecond = 2e11, .fp8Ratio = 1, .bytesPerSecond = 8e9};
    const Advice a = adviceFor(test::cpuWithoutFp8(), model, {test::bf16Mode(), test::plainFp8Mode()});
    const Finding* f = find(a, "small-layers");
    ASSERT_NE(f, nullptr);
    EXPECT_THAT(f->title, HasSubstr("In fp8 mode: Keep layer1 (N = 64) in 16 bit"));
    EXPECT_EQ(f->evidence.size(), 1U);
}

TEST(Advise, FindingsAreRankedByGain)
{
    const Advice a =
        adviceFor(test::h100(), {.batch = 4096}, {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
    EXPECT_GT(a.findings.size(), 2U);
    for (std::size_t i = 1; i < a.findings.size(); ++i)
        EXPECT_GE(a.findings[i - 1].gainNs, a.findings[i].gainNs);
}

TEST(Advise, NothingToSayOfATraceWithoutSteps)
{
    test::TraceBuilder builder;
    builder.run("fp8").track("q").slice(0, 10, "k");
    const Trace trace = builder.build();
    const std::vector<Breakdown> runs = breakdowns(trace);
    EXPECT_TRUE(advise({trace, runs, accounts(trace, runs)}).empty());
}

}  // namespace
}  // namespace fp8scope::analysis
