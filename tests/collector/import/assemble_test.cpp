// SPDX-License-Identifier: Apache-2.0
// Raw events to a trace: every trap of profilers' files that decides to what device work is attributed.
#include "collector/import/assemble.h"

#include "tests/collector/import/raw_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace fp8scope::import {
namespace {

using test::RawBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// "aten::mm forward Linear_0" of the device slice that starts at `startNs`; "-" where it has no op.
std::string opAt(const Trace& trace, std::int64_t startNs)
{
    for (const Track& track : trace.tracks) {
        for (std::size_t i = 0; track.kind == TrackKind::DeviceQueue && i < track.slices.size(); ++i) {
            if (track.slices.startNs[i] != startNs)
                continue;
            if (!track.slices.op[i].valid())
                return "-";
            const TraceOp& op = trace.op(track.slices.op[i]);
            std::string text = op.name + " " + std::string(toString(op.phase));
            return op.layer.valid() ? text + " " + trace.layer(op.layer).name : text;
        }
    }
    return "no such slice";
}

const TraceOp& traceOpAt(const Trace& trace, std::int64_t startNs)
{
    static const TraceOp kNone;
    for (const Track& track : trace.tracks) {
        for (std::size_t i = 0; track.kind == TrackKind::DeviceQueue && i < track.slices.size(); ++i) {
            if (track.slices.startNs[i] == startNs && track.slices.op[i].valid())
                return trace.op(track.slices.op[i]);
        }
    }
    return kNone;
}

std::uint64_t counted(const Trace& trace, std::string_view diagnostic)
{
    for (const Diagnostic& d : trace.diagnostics) {
        if (d.name == diagnostic)
            return d.count;
    }
    return 0;
}

Trace assembled(RawBuilder& builder) { return assemble(std::move(builder.raw)); }

TEST(Assemble, AKernelBelongsToTheInnermostOpAroundItsLaunch)
{
    RawBuilder b;
    b.op(0, 100, "aten::linear");
    b.op(10, 50, "aten::addmm");
    b.launch(20, 1);
    b.launch(80, 2);
    b.kernel(500, 10, "gemm", 1);
    b.kernel(600, 10, "bias", 2);
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 500), "aten::addmm forward");
    EXPECT_EQ(opAt(trace, 600), "aten::linear forward");
}

TEST(Assemble, CorrelationIdsRestartInEachProcess)
{
    RawBuilder b;
    b.raw.processes = {{.pid = 1, .rank = 1}, {.pid = 2, .rank = 0}};
    for (const std::uint32_t p : {0U, 1U}) {
        b.process = ProcessId(p);
        b.op(0, 100, p == 0 ? "aten::add" : "aten::mul");
        b.launch(10, 77);
        b.kernel(200 + p, 5, "elementwise", 77);
    }
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 200), "aten::add forward");
    EXPECT_EQ(opAt(trace, 201), "aten::mul forward");
    ASSERT_THAT(trace.runs, SizeIs(2));
    EXPECT_EQ(trace.runs[0].mode, "rank 0") << "in the order of ranks, not of the file";
    EXPECT_EQ(trace.runs[1].mode, "rank 1");
    EXPECT_EQ(counted(trace, "correlation-collision"), 0U);
}

TEST(Assemble, IdsAboveTheSignedRangeAreIds)
{
    constexpr std::uint64_t kHuge = 10159970886766084423U;
    RawBuilder b;
    b.op(0, 100, "aten::add");
    b.launch(10, kHuge);
    b.launch(20, 3);
    b.kernel(200, 5, "k", kHuge);
    EXPECT_EQ(opAt(assembled(b), 200), "aten::add forward");
}

TEST(Assemble, AGraphLaunchIsSharedByAllItsKernels)
{
    RawBuilder b;
    b.op(0, 100, "graph_replay");
    b.launch(10, 5);
    for (int i = 0; i < 4; ++i)
        b.kernel(200 + 10 * i, 5, "k", 5);
    const Trace trace = assembled(b);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(opAt(trace, 200 + 10 * i), "graph_replay forward");
    EXPECT_EQ(counted(trace, "shared-launch"), 3U);
}

TEST(Assemble, WhatHasNoLaunchIsKeptAndCounted)
{
    RawBuilder b;
    b.op(0, 100, "aten::add");
    b.launch(10, 1);
    b.kernel(200, 5, "known", 1);
    b.kernel(300, 5, "orphan", 9);
    b.kernel(400, 5, "nothing at all");
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 300), "-");
    EXPECT_EQ(opAt(trace, 400), "-");
    EXPECT_EQ(counted(trace, "kernel-without-launch"), 2U);
    EXPECT_EQ(counted(trace, "kernel-without-op"), 2U);
}

TEST(Assemble, AnExternalIdNamesTheOpAlsoWithoutALaunch)
{
    RawBuilder b;
    b.op(0, 10, "aten::mul").externalId = 41;
    b.op(20, 10, "aten::add").externalId = 42;
    b.kernel(200, 5, "k").externalId = 42;
    EXPECT_EQ(opAt(assembled(b), 200), "aten::add forward");
}

TEST(Assemble, FlowsLinkWhereThereIsNoCorrelationAndKindsDoNotShareIds)
{
    RawBuilder b;
    b.op(0, 100, "aten::add");
    b.host(HostKind::Api, 10, 5, "cudaLaunchKernel");
    b.op(110, 100, "aten::mul");
    b.host(HostKind::Api, 120, 5, "cudaLaunchKernel");
    b.kernel(200, 5, "k");
    const std::uint32_t cpu = b.track(TrackKind::CpuThread, 100);
    const std::uint32_t gpu = b.track(TrackKind::DeviceQueue, 7);
    b.flow(Flow::Kind::ForwardBackward, 1, true, cpu, 120);  // the same id, another kind of arrow
    b.flow(Flow::Kind::Launch, 1, true, cpu, 10);
    b.flow(Flow::Kind::Launch, 1, false, gpu, 200);
    b.flow(Flow::Kind::Launch, 2, false, gpu, 300);  // arrives from nowhere
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 200), "aten::add forward");
    EXPECT_EQ(counted(trace, "launch-by-flow"), 1U);
    EXPECT_EQ(counted(trace, "flow-without-begin"), 1U);
}

TEST(Assemble, OverlapsGetLanesAndInstantsStay)
{
    RawBuilder b;
    b.kernel(100, 50, "first");
    b.kernel(120, 50, "launched early (PDL)");
    b.kernel(300, 0, "instant");
    b.kernel(90, 5, "out of order in the file");
    const Trace trace = assembled(b);
    ASSERT_THAT(trace.tracks, SizeIs(1));
    const SliceColumns& s = trace.tracks[0].slices;
    EXPECT_THAT(s.startNs, ElementsAre(90, 100, 120, 300));
    EXPECT_THAT(s.durNs, ElementsAre(5, 50, 50, 0));
    EXPECT_THAT(s.lane, ElementsAre(0, 0, 1, 0));
    EXPECT_EQ(trace.tracks[0].laneCount, 2U);
}

TEST(Assemble, InFilesOfWholeMicrosecondsALaunchOfNoDurationIsInsideItsOp)
{
    RawBuilder b;
    b.op(1000, 0, "aten::add");
    b.launch(1000, 1).durNs = 0;
    b.op(1000, 0, "aten::mul");
    b.launch(1000, 2).durNs = 0;
    b.kernel(5000, 1000, "add", 1);
    b.kernel(6000, 1000, "mul", 2);
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 5000), "aten::add forward");
    EXPECT_EQ(opAt(trace, 6000), "aten::mul forward");
}

/// A linear layer, forward and backward, as autograd's threads run it.
RawBuilder linearLayer()
{
    RawBuilder b;
    b.frame(0, 1000, "nn.Module: Model_0");
    b.frame(10, 400, "nn.Module: Linear_0");
    b.op(20, 300, "aten::linear").sequenceNumber = 7;
    b.op(30, 100, "aten::addmm", "[[4096], [2048, 1024], [1024, 4096], [], []]",
         R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])")
        .sequenceNumber = 8;
    b.launch(40, 1);
    b.thread = 200;
    HostEvent& outer = b.op(2000, 500, "autograd::engine::evaluate_function: AddmmBackward0");
    outer.sequenceNumber = 8;
    outer.forwardThread = 1;
    HostEvent& node = b.op(2010, 450, "AddmmBackward0");
    node.sequenceNumber = 8;
    node.forwardThread = 1;
    b.op(2020, 50, "aten::mm", "[[2048, 4096], [4096, 1024]]", R"(["c10::BFloat16", "c10::BFloat16"])");
    b.launch(2030, 2);
    b.op(2100, 50, "aten::mm", "[[4096, 2048], [2048, 1024]]", R"(["c10::BFloat16", "c10::BFloat16"])");
    b.launch(2110, 3);
    b.op(2200, 50, "aten::sum", "[[2048, 4096], [], [], []]");
    b.launch(2210, 4);
    b.op(2600, 50, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
    b.launch(2610, 5);
    b.kernel(10000, 100, "nvjet_tst", 1);
    b.kernel(20000, 100, "nvjet_tst", 2);
    b.kernel(30000, 100, "nvjet_tss", 3);
    b.kernel(40000, 10, "reduce", 4);
    b.kernel(50000, 10, "add", 5);
    return b;
}

TEST(Assemble, BackwardOpsBelongToTheLayerOfTheirForwardOp)
{
    RawBuilder b = linearLayer();
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 10000), "aten::addmm forward Linear_0");
    EXPECT_EQ(opAt(trace, 20000), "aten::mm dgrad Linear_0") << "sums over the outputs";
    EXPECT_EQ(opAt(trace, 30000), "aten::mm wgrad Linear_0") << "sums over the tokens";
    EXPECT_EQ(opAt(trace, 40000), "aten::sum wgrad Linear_0") << "the bias's gradient";
    EXPECT_EQ(opAt(trace, 50000),
              "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad wgrad Linear_0");
}

TEST(Assemble, ProductsHaveShapesTypesFlopsAndBytes)
{
    RawBuilder b = linearLayer();
    const Trace trace = assembled(b);
    const TraceOp& forward = traceOpAt(trace, 10000);
    EXPECT_EQ(forward.role, Role::Gemm);
    EXPECT_EQ(std::vector({forward.m, forward.n, forward.k}), (std::vector<std::int64_t>{2048, 4096, 1024}));
    EXPECT_EQ(forward.aType + " " + forward.bType + " " + forward.dType, "bf16 bf16 bf16");
    EXPECT_EQ(forward.epilogue, "bias");
    EXPECT_DOUBLE_EQ(forward.flops, 2.0 * 2048 * 4096 * 1024);
    EXPECT_EQ(forward.bytes, 2U * (2048 * 1024 + 1024 * 4096 + 2048 * 4096));
    const TraceOp& wgrad = traceOpAt(trace, 30000);
    EXPECT_EQ(std::vector({wgrad.m, wgrad.n, wgrad.k}), (std::vector<std::int64_t>{4096, 1024, 2048}));
    ASSERT_THAT(trace.layers, SizeIs(1));
    EXPECT_EQ(trace.layers[0].inFeatures, 1024);
    EXPECT_EQ(trace.layers[0].outFeatures, 4096);
    EXPECT_EQ(trace.layers[0].precision, "bf16");
}

TEST(Assemble, WithoutShapesANodesLastProductIsTheWeights)
{
    RawBuilder b = linearLayer();
    for (HostEvent& event : b.raw.host)
        event.arguments = DeviceEvent::kNoArguments;
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 20000), "aten::mm dgrad Linear_0");
    EXPECT_EQ(opAt(trace, 30000), "aten::mm wgrad Linear_0");
}

TEST(Assemble, WithoutSequenceNumbersFlowsLeadToTheForwardOp)
{
    RawBuilder b = linearLayer();
    for (HostEvent& event : b.raw.host)
        event.sequenceNumber = -1;
    b.flow(Flow::Kind::ForwardBackward, 3, true, b.track(TrackKind::CpuThread, 100), 30);
    b.flow(Flow::Kind::ForwardBackward, 3, false, b.track(TrackKind::CpuThread, 200), 2000);
    b.flow(Flow::Kind::ForwardBackward, 4, true, b.track(TrackKind::CpuThread, 100), 30);
    b.flow(Flow::Kind::ForwardBackward, 4, false, b.track(TrackKind::CpuThread, 200), 2010);
    EXPECT_EQ(opAt(assembled(b), 20000), "aten::mm dgrad Linear_0");
}

TEST(Assemble, ForwardOpsThatCheckpointingComputesAgainAreForward)
{
    RawBuilder b;
    HostEvent& node = b.op(0, 1000, "CheckpointFunctionBackward");
    node.sequenceNumber = 3;
    node.forwardThread = 1;
    b.op(100, 50, "aten::relu").sequenceNumber = 90;  // it records a graph: only forward ops do
    b.launch(110, 1);
    b.op(200, 50, "aten::threshold_backward");
    b.launch(210, 2);
    b.frame(300, 100, "nn.Module: Block_0");
    b.op(310, 50, "aten::gelu");
    b.launch(320, 3);
    b.kernel(5000, 10, "relu", 1);
    b.kernel(6000, 10, "relu_backward", 2);
    b.kernel(7000, 10, "gelu", 3);
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 5000), "aten::relu forward");
    EXPECT_EQ(opAt(trace, 6000), "aten::threshold_backward dgrad");
    EXPECT_EQ(opAt(trace, 7000), "aten::gelu forward Block_0");
}

TEST(Assemble, ABucketOfGradientsThatIsReducedIsOfNoLayer)
{
    RawBuilder b = linearLayer();
    b.thread = 200;
    b.op(2700, 100, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
    b.op(2710, 50, "record_param_comms");
    b.launch(2720, 6);
    b.kernel(60000, 10, "ncclDevKernel_AllReduce", 6);
    EXPECT_EQ(opAt(assembled(b), 60000), "record_param_comms other");
}

TEST(Assemble, CollectivesSayTheirKindGroupAndSizeAndCallsOfOneKindAreOneOp)
{
    RawBuilder b;
    for (int call = 0; call < 3; ++call) {
        b.op(call * 100, 50, "record_param_comms");
        b.launch(call * 100 + 10, static_cast<std::uint64_t>(call + 1));
        b.kernel(1000 + call, 1, "ncclDevKernel_AllReduce", static_cast<std::uint64_t>(call + 1)).arguments =
            static_cast<std::uint32_t>(b.raw.arguments.size());
        b.raw.arguments.push_back({.types = "BFloat16",
                                   .collective = "allreduce",
                                   .group = "3",
                                   .groupSize = 8,
                                   .messageElements = 4096,
                                   .sequence = call});
    }
    const Trace trace = assembled(b);
    ASSERT_THAT(trace.ops, SizeIs(1));
    EXPECT_EQ(trace.ops[0].name, "allreduce in group 3");
    EXPECT_EQ(trace.ops[0].role, Role::Comm);
    EXPECT_EQ(trace.ops[0].n, 4096);
    EXPECT_EQ(trace.ops[0].aType, "bf16");
}

TEST(Assemble, TheOptimizersWorkIsOfItsPhase)
{
    RawBuilder b;
    b.range(0, 100, "Optimizer.step#AdamW.step");
    b.op(10, 50, "aten::mul_");
    b.launch(20, 1);
    b.op(200, 50, "aten::_fused_adamw_");
    b.launch(210, 2);
    b.kernel(1000, 10, "mul", 1);
    b.kernel(2000, 10, "multi_tensor_apply", 2);
    const Trace trace = assembled(b);
    EXPECT_EQ(opAt(trace, 1000), "aten::mul_ optimizer");
    EXPECT_EQ(opAt(trace, 2000), "aten::_fused_adamw_ optimizer");
}

TEST(Assemble, OfAProductsKernelsTheLongestMultiplies)
{
    RawBuilder b;
    b.op(0, 100, "aten::_scaled_mm", "[[128, 256], [256, 512], [], []]",
         R"(["c10::Float8_e4m3fn", "c10::Float8_e5m2", "float", "float"])");
    b.launch(10, 1);
    b.launch(20, 2);
    b.launch(30, 3);
    b.kernel(1000, 2, "memset_kernel", 1);
    b.kernel(1010, 50, "nvjet_qrtst", 2);
    b.kernel(1070, 5, "splitKreduce_kernel", 3);
    const Trace trace = assembled(b);
    EXPECT_EQ(traceOpAt(trace, 1010).role, Role::Gemm);
    EXPECT_EQ(traceOpAt(trace, 1010).aType + " " + traceOpAt(trace, 1010).bType, "e4m3 e5m2");
    EXPECT_EQ(traceOpAt(trace, 1010).recipe, "tensorwise");
    for (const std::int64_t start : {1000, 1070}) {
        EXPECT_EQ(opAt(trace, start), "aten::_scaled_mm forward");
        EXPECT_EQ(traceOpAt(trace, start).flops, 0) << "counted once";
    }
}

TEST(Assemble, EqualOpsStandOnce)
{
    RawBuilder b;
    for (int i = 0; i < 10; ++i) {
        b.op(i * 100, 50, "aten::add", "[[16], [16]]");
        b.launch(i * 100 + 10, static_cast<std::uint64_t>(i + 1));
        b.kernel(5000 + i * 10, 5, "add", static_cast<std::uint64_t>(i + 1));
    }
    for (HostEvent& event : b.raw.host)
        event.arguments = event.arguments == DeviceEvent::kNoArguments ? event.arguments : 0;
    EXPECT_THAT(assembled(b).ops, SizeIs(1));
}

TEST(Assemble, LayersCountInTheOrderOfTheirFirstWork)
{
    RawBuilder b;
    for (int i = 0; i < 3; ++i) {
        b.frame(i * 100, 90, "nn.Module: Linear_" + std::to_string(i));
        b.op(i * 100 + 10, 50, "aten::add");
        b.launch(i * 100 + 20, static_cast<std::uint64_t>(i + 1));
    }
    b.kernel(3000, 5, "k", 3);
    b.kernel(2000, 5, "k", 2);
    b.kernel(1000, 5, "k", 1);
    const Trace trace = assembled(b);
    std::vector<std::pair<std::uint32_t, std::string>> layers;
    for (const Layer& layer : trace.layers)
        layers.emplace_back(layer.index, layer.name);
    std::sort(layers.begin(), layers.end());
    EXPECT_THAT(layers, ElementsAre(std::pair(0U, "Linear_0"), std::pair(1U, "Linear_1"), std::pair(2U, "Linear_2")));
}

TEST(Assemble, RangesWithTheNamesOfModulesAreLayersOnlyWhereThereAreNoModules)
{
    RawBuilder b;
    b.range(0, 100, "decoder.layers.3.mlp");
    b.launch(20, 1);
    b.kernel(1000, 5, "k", 1);
    const RawBuilder withoutModules = b;
    b.frame(0, 100, "nn.Module: Mlp_3");
    RawBuilder nvtx = withoutModules;
    EXPECT_EQ(opAt(assembled(nvtx), 1000), " forward decoder.layers.3.mlp");
    EXPECT_EQ(opAt(assembled(b), 1000), " forward Mlp_3");
}

TEST(Assemble, AMarkedPhaseHoldsForOtherThreadsToo)
{
    RawBuilder b;
    b.range(0, 100, "## backward ##");
    b.thread = 200;
    b.launch(50, 1);
    b.kernel(1000, 5, "k", 1);
    EXPECT_EQ(opAt(assembled(b), 1000), " dgrad");
}

TEST(MarkedSteps, LastFromTheFirstWorkLaunchedInThemToThatOfTheNext)
{
    RawBuilder b;
    for (int step = 0; step < 3; ++step) {
        b.range(step * 100, 90, "ProfilerStep#" + std::to_string(step + 5));
        b.launch(step * 100 + 10, static_cast<std::uint64_t>(step + 1));
        b.kernel(1000 + step * 500, 400, "k", static_cast<std::uint64_t>(step + 1));
    }
    const Trace trace = assembled(b);
    ASSERT_THAT(trace.steps, SizeIs(3));
    EXPECT_EQ(trace.steps[0].index, 5U);
    EXPECT_EQ(trace.steps[0].startNs, 1000);
    EXPECT_EQ(trace.steps[0].durNs, 500) << "up to the next step's first kernel, pause included";
    EXPECT_EQ(trace.steps[2].startNs, 2000);
    EXPECT_EQ(trace.steps[2].durNs, 400) << "the last one up to its last kernel";
}

TEST(MarkedSteps, ASlowCpuMakesTheLastStepAsLongAsItsMark)
{
    RawBuilder b;
    for (int step = 0; step < 2; ++step) {
        b.range(step * 1000, 1000, "ProfilerStep#" + std::to_string(step));
        b.launch(step * 1000 + 10, static_cast<std::uint64_t>(step + 1));
        b.kernel(step * 1000 + 20, 30, "k", static_cast<std::uint64_t>(step + 1));
    }
    const Trace trace = assembled(b);
    ASSERT_THAT(trace.steps, SizeIs(2));
    EXPECT_EQ(trace.steps[0].durNs, 1000);
    EXPECT_EQ(trace.steps[1].durNs, 1000);
}

TEST(MarkedSteps, SeenOnSeveralThreadsAreOne)
{
    RawBuilder b;
    b.range(0, 100, "ProfilerStep#1");
    b.thread = 300;
    b.range(1, 98, "ProfilerStep#1");
    EXPECT_THAT(assembled(b).steps, SizeIs(1));
}

TEST(MarkedSteps, NeighboursThatOverlapALittleAreTwo)
{
    RawBuilder b;
    b.range(0, 105, "ProfilerStep#1");
    b.range(100, 100, "ProfilerStep#2");
    EXPECT_THAT(assembled(b).steps, SizeIs(2));
}

TEST(MarkedSteps, OldFilesWriteTheMarkAsAnOperator)
{
    RawBuilder b;
    b.op(0, 100, "ProfilerStep#9");
    b.launch(10, 1);
    b.kernel(20, 30, "k", 1);
    const Trace trace = assembled(b);
    ASSERT_THAT(trace.steps, SizeIs(1));
    EXPECT_EQ(trace.steps[0].index, 9U);
    EXPECT_EQ(opAt(trace, 20), "-") << "a mark is no op";
}

TEST(MarkedSteps, WithoutProfilerStepsTheOptimizersEndsPartThem)
{
    RawBuilder b;
    for (int step = 0; step < 4; ++step) {
        b.launch(step * 100 + 10, static_cast<std::uint64_t>(step + 1));
        b.kernel(step * 100 + 20, 30, "k", static_cast<std::uint64_t>(step + 1));
        b.range(step * 100 + 60, 30, "Optimizer.step#SGD.step");
    }
    const Trace trace = assembled(b);
    ASSERT_THAT(trace.steps, SizeIs(3)) << "what came before the first update is no whole step";
    EXPECT_EQ(trace.steps[0].startNs, 120);
    EXPECT_EQ(trace.steps[0].durNs, 100);
}

TEST(Assemble, AFileWithNothingOnADeviceIsOneRun)
{
    RawBuilder b;
    b.raw.source = "cpu_only_rank-34.Jul_15.pt.trace.json.gz";
    b.op(0, 100, "aten::mm");
    const Trace trace = assembled(b);
    ASSERT_THAT(trace.runs, SizeIs(1));
    EXPECT_EQ(trace.runs[0].mode, "cpu_only_rank-34.Jul_15");
    EXPECT_EQ(trace.runs[0].endNs, 100);
    EXPECT_THAT(trace.steps, IsEmpty());
}

TEST(Assemble, AnEmptyFileIsAnEmptyRun)
{
    const Trace trace = assemble({});
    EXPECT_THAT(trace.runs, SizeIs(1));
    EXPECT_EQ(trace.sliceCount(), 0U);
}

}  // namespace
}  // namespace fp8scope::import
