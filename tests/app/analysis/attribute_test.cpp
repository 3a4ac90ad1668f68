// SPDX-License-Identifier: Apache-2.0
// What an imported trace does not say is found in its kernels: steps by their period.
#include "app/analysis/attribute.h"

#include "app/analysis/steps.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fp8scope::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Kernel {
    std::string name;
    Role role = Role::Elementwise;
};

/// One kernel after another, 10 ns each, 2 ns apart; 100 ns between the parts.
Trace captureOf(const std::vector<std::vector<Kernel>>& parts)
{
    test::TraceBuilder builder;
    builder.run("capture", Origin::Imported).track("stream 7");
    std::int64_t now = 1000;
    for (const auto& part : parts) {
        for (const Kernel& kernel : part) {
            builder.slice(now, 10, kernel.name, kernel.role);
            now += 12;
        }
        now += 100;
    }
    Trace trace = builder.build();
    attribute(trace);
    return trace;
}

std::vector<Kernel> trainingStep(int layers)
{
    std::vector<Kernel> kernels{{"embedding"}};
    for (int l = 0; l < layers; ++l)
        kernels.insert(kernels.end(),
                       {{"norm"}, {"gemm_fwd", Role::Gemm}, {"gelu"}, {"gemm_fwd", Role::Gemm}, {"add"}});
    kernels.push_back({"cross_entropy", Role::Loss});
    for (int l = 0; l < layers; ++l)
        kernels.insert(kernels.end(), {{"gemm_dx", Role::Gemm}, {"gemm_dw", Role::Gemm}, {"gelu_bwd"}, {"norm_bwd"}});
    for (int l = 0; l < layers; ++l)
        kernels.push_back({"adam", Role::Optimizer});
    return kernels;
}

std::string howFound(const Trace& trace)
{
    for (const Diagnostic& d : trace.diagnostics) {
        if (d.name == "steps")
            return d.text;
    }
    return {};
}

TEST(FoundSteps, ATrainingLoopWithoutMarksHasThePeriodOfItsKernels)
{
    const Trace trace = captureOf({5, trainingStep(4)});
    ASSERT_THAT(trace.steps, SizeIs(5));
    const std::int64_t length = static_cast<std::int64_t>(trainingStep(4).size()) * 12 + 100;
    for (std::size_t s = 0; s < 4; ++s) {
        EXPECT_EQ(trace.steps[s].startNs, 1000 + static_cast<std::int64_t>(s) * length);
        EXPECT_EQ(trace.steps[s].durNs, length) << s;
    }
    EXPECT_EQ(trace.steps[4].durNs, length - 102) << "the last one ends with its last kernel";
    EXPECT_THAT(howFound(trace), HasSubstr("100% sure"));
}

TEST(FoundSteps, StepsThatDifferALittleAreStillFoundButLessSurely)
{
    std::vector<std::vector<Kernel>> steps(6, trainingStep(4));
    steps[2].insert(steps[2].begin() + 5, {{"log_metrics"}, {"log_metrics"}});
    steps[4].erase(steps[4].begin() + 3);
    const Trace trace = captureOf(steps);
    EXPECT_THAT(trace.steps, SizeIs(6));
    EXPECT_THAT(howFound(trace), HasSubstr("9")) << "nineties, not 100%";
    EXPECT_THAT(howFound(trace), ::testing::Not(HasSubstr("100%")));
}

TEST(FoundSteps, LayersOfOneForwardPassAreNotTakenForSteps)
{
    std::vector<Kernel> pass;
    for (int layer = 0; layer < 24; ++layer)
        pass.insert(pass.end(),
                    {{"norm"}, {"qkv", Role::Gemm}, {"attention"}, {"out", Role::Gemm}, {"up", Role::Gemm}});
    const Trace trace = captureOf({pass});
    ASSERT_THAT(trace.steps, SizeIs(1));
    EXPECT_EQ(trace.steps[0].durNs, static_cast<std::int64_t>(pass.size()) * 12 - 2);
    EXPECT_THAT(howFound(trace), HasSubstr("whole capture"));
}

TEST(FoundSteps, DecodingStepsAreFoundByWhatRepeatsInsideThem)
{
    std::vector<Kernel> pass{{"embed"}};
    for (int layer = 0; layer < 6; ++layer)
        pass.insert(pass.end(),
                    {{"norm"}, {"qkv", Role::Gemm}, {"attention"}, {"out", Role::Gemm}, {"up", Role::Gemm}});
    pass.push_back({"sample"});
    const Trace trace = captureOf({8, pass});
    EXPECT_THAT(trace.steps, SizeIs(8));
}

TEST(FoundSteps, MarkedStepsAndEngineRunsStayAsTheyAre)
{
    test::TraceBuilder builder;
    builder.run("marked", Origin::Imported).track("stream 7").step(7, 0, 500);
    builder.run("fp8", Origin::MeasuredCpu).track("queue");
    for (int i = 0; i < 100; ++i)
        builder.slice(i * 10, 10, i % 10 == 0 ? "adam" : "k" + std::to_string(i % 10),
                      i % 10 == 0 ? Role::Optimizer : Role::Other);
    Trace trace = builder.build();
    attribute(trace);
    ASSERT_THAT(trace.steps, SizeIs(1));
    EXPECT_EQ(trace.steps[0].index, 7U);
    EXPECT_THAT(trace.diagnostics, IsEmpty());
}

TEST(FoundSteps, ARunWithNothingOnADeviceHasNoSteps)
{
    test::TraceBuilder builder;
    builder.run("cpu only", Origin::Imported).track("python", TrackKind::CpuThread).slice(0, 10, "aten::mm");
    Trace trace = builder.build();
    attribute(trace);
    EXPECT_THAT(trace.steps, IsEmpty());
}

std::vector<std::string> layersOf(const Trace& trace, std::string_view kernel)
{
    std::vector<std::string> layers;
    const SliceColumns& s = trace.tracks[0].slices;
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (trace.name(s.name[i]).text != kernel)
            continue;
        const bool has = s.op[i].valid() && trace.op(s.op[i]).layer.valid();
        layers.push_back(has ? trace.layer(trace.op(s.op[i]).layer).name : "-");
    }
    return layers;
}

TEST(FoundLayers, RepetitionsWithinAStepAreLayersAndTheBackwardPassRunsThroughThemInReverse)
{
    const Trace trace = captureOf({3, trainingStep(4)});
    EXPECT_THAT(trace.layers, SizeIs(4));
    const std::vector<std::string> up{"layer 0", "layer 1", "layer 2", "layer 3"};
    const std::vector<std::string> down{"layer 3", "layer 2", "layer 1", "layer 0"};
    const std::vector<std::string> norm = layersOf(trace, "norm");
    const std::vector<std::string> dx = layersOf(trace, "gemm_dx");
    ASSERT_THAT(norm, SizeIs(12));
    ASSERT_THAT(dx, SizeIs(12));
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(norm[i], up[i % 4]) << i;
        EXPECT_EQ(dx[i], down[i % 4]) << i;
    }
    EXPECT_THAT(layersOf(trace, "embedding"), ::testing::Each("-"));
    EXPECT_THAT(layersOf(trace, "cross_entropy"), ::testing::Each("-"));
}

TEST(FoundLayers, ASequenceWithoutProductsHasNone)
{
    std::vector<Kernel> loop;
    for (int i = 0; i < 8; ++i)
        loop.insert(loop.end(), {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}});
    EXPECT_THAT(captureOf({loop}).layers, IsEmpty());
}

TEST(FoundLayers, LayersOfTheFileStay)
{
    test::TraceBuilder builder;
    builder.run("capture", Origin::Imported).layer("decoder", 1, 1).track("stream 7");
    for (int i = 0; i < 40; ++i)
        builder.slice(i * 10, 10, i % 5 == 0 ? "gemm" : "k" + std::to_string(i % 5),
                      i % 5 == 0 ? Role::Gemm : Role::Elementwise);
    Trace trace = builder.build();
    attribute(trace);
    EXPECT_THAT(trace.layers, SizeIs(1));
}

TEST(FoundLayers, AQuantizationOfNoLayerGetsThatOfItsProduct)
{
    test::TraceBuilder builder;
    builder.run("capture", Origin::Imported).layer("mlp.up", 1, 1).track("stream 7");
    builder.slice(0, 10, "cast", Role::Cast);
    builder.opSlice(10, 10,
                    {.layer = builder.layerId("mlp.up"),
                     .name = "aten::_scaled_mm",
                     .phase = Phase::Dgrad,
                     .role = Role::Gemm,
                     .aType = "e4m3",
                     .bType = "e4m3"});
    Trace trace = builder.build();
    attribute(trace);
    const OpId op = trace.tracks[0].slices.op[0];
    ASSERT_TRUE(op.valid());
    EXPECT_EQ(trace.layer(trace.op(op).layer).name, "mlp.up");
    EXPECT_EQ(trace.op(op).phase, Phase::Dgrad);
    EXPECT_EQ(trace.op(op).role, Role::Other) << "its name still says what it does";
}

std::vector<Phase> phasesOf(std::string_view node, int products)
{
    test::TraceBuilder builder;
    builder.run("capture", Origin::Imported).layer("mlp", 1, 1).track("stream 7").step(0, 0, 1000);
    Trace trace = builder.build();
    trace.ops.push_back({.run = RunId(0), .layer = LayerId(0), .name = std::string(node), .phase = Phase::Dgrad});
    trace.names.push_back({.text = "nvjet_qqtst", .role = Role::Gemm, .precision = Precision::Fp8});
    trace.names.push_back({.text = "cast_transpose", .role = Role::CastTranspose});
    SliceColumns& s = trace.tracks[0].slices;
    for (int i = 0; i < products * 2; ++i) {
        s.startNs.push_back(i * 10);
        s.durNs.push_back(10);
        s.name.push_back(NameId(i % 2 == 0 ? 1U : 0U));
        s.op.push_back(OpId(0));
    }
    attribute(trace);
    std::vector<Phase> phases;
    for (std::size_t i = 1; i < s.size(); i += 2)
        phases.push_back(trace.op(s.op[i]).phase);
    EXPECT_EQ(trace.op(s.op[0]).phase, Phase::Dgrad) << "the quantization stays with its node";
    return phases;
}

TEST(NodeGradients, TransformerEnginesNodesComputeDgradThenWgradOfEachLayer)
{
    using ::testing::ElementsAre;
    EXPECT_THAT(phasesOf("_LinearBackward", 2), ElementsAre(Phase::Dgrad, Phase::Wgrad));
    EXPECT_THAT(phasesOf("_LayerNormMLPBackward", 4),
                ElementsAre(Phase::Dgrad, Phase::Wgrad, Phase::Dgrad, Phase::Wgrad));
    EXPECT_THAT(phasesOf("_GroupedLinearBackward", 4),
                ElementsAre(Phase::Dgrad, Phase::Dgrad, Phase::Wgrad, Phase::Wgrad));
    EXPECT_THAT(phasesOf("_LinearBackward", 1), ElementsAre(Phase::Dgrad)) << "one alone cannot be told";
    EXPECT_THAT(phasesOf("AddmmBackward0", 2), ElementsAre(Phase::Dgrad, Phase::Dgrad))
        << "PyTorch's own nodes have ops inside, which the importer has told apart";
}

}  // namespace
}  // namespace fp8scope::analysis
