// SPDX-License-Identifier: Apache-2.0
// Each product's own quantization tax.
#include "app/analysis/gemms.h"

#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::analysis {
namespace {

using ::testing::SizeIs;

GemmTable tableOf(const Trace& trace) { return gemmTable(trace, breakdown(trace, RunId(0))); }

TraceOp op(std::string name, Role role, LayerId layer, std::string type = {})
{
    TraceOp made{.layer = layer, .name = std::move(name), .phase = Phase::Forward, .role = role};
    made.aType = made.bType = std::move(type);
    return made;
}

TEST(GemmTable, QuantizationGoesToTheNextProductOfItsLayer)
{
    test::TraceBuilder b;
    b.run("fp8").layer("a", 64, 64).layer("b", 64, 64).track("queue");
    b.opSlice(0, 10, op("cast a", Role::Cast, b.layerId("a")));
    b.opSlice(10, 20, op("cast b", Role::Cast, b.layerId("b")));
    b.opSlice(30, 100, op("gemm a", Role::Gemm, b.layerId("a"), "e4m3"));
    b.opSlice(130, 50, op("gemm b", Role::Gemm, b.layerId("b"), "e4m3"));
    const GemmTable table = tableOf(b.step(0, 0, 200).build());
    ASSERT_THAT(table.gemms, SizeIs(2));
    EXPECT_EQ(table.gemms[0].gemmNs, 100);
    EXPECT_EQ(table.gemms[0].quantizationNs, 10);
    EXPECT_DOUBLE_EQ(table.gemms[0].tax(), 0.1);
    EXPECT_EQ(table.gemms[1].quantizationNs, 20);
    EXPECT_EQ(table.unattachedNs, 0);
}

TEST(GemmTable, WithoutLayersItGoesToTheNextFp8ProductOfTheQueue)
{
    test::TraceBuilder b;
    b.run("imported", Origin::Imported).track("stream 7");
    b.slice(0, 10, "amax", Role::Amax).slice(10, 10, "cast", Role::Cast);
    b.slice(20, 40, "gemm16", Role::Gemm, Precision::Bf16);
    b.slice(60, 80, "gemm8", Role::Gemm, Precision::Fp8);
    b.slice(140, 10, "cast", Role::Cast);
    const GemmTable table = tableOf(b.step(0, 0, 200).build());
    ASSERT_THAT(table.gemms, SizeIs(2));
    EXPECT_EQ(table.gemms[0].family, Family::GemmFp8);
    EXPECT_EQ(table.gemms[0].quantizationNs, 20);
    EXPECT_EQ(table.gemms[1].quantizationNs, 0) << "a 16-bit product takes no quantized operand";
    EXPECT_EQ(table.quantizationNs, 30);
    EXPECT_EQ(table.unattachedNs, 10);
}

TEST(GemmTable, AQuantizerModuleInsideALayerFeedsTheLayersProduct)
{
    test::TraceBuilder b;
    b.run("imported", Origin::Imported).layer("mlp.up", 64, 64).layer("mlp.up.quant", 0, 0).layer("attn.quant", 0, 0);
    b.track("stream 7");
    b.opSlice(0, 10, op("q1", Role::Cast, b.layerId("mlp.up.quant")));
    b.opSlice(10, 30, op("q2", Role::Cast, b.layerId("attn.quant")));
    b.opSlice(40, 50, op("mm", Role::Gemm, b.layerId("mlp.up"), "e4m3"));
    const GemmTable table = tableOf(b.step(0, 0, 100).build());
    ASSERT_THAT(table.gemms, SizeIs(1));
    EXPECT_EQ(table.gemms[0].quantizationNs, 10);
    EXPECT_EQ(table.unattachedNs, 30) << "what attention takes is no product's tax";
}

TEST(GemmTable, EqualProductsAreOneBillAveragedOverTheSteps)
{
    test::TraceBuilder b;
    b.run("fp8").track("queue");
    TraceOp gemm = op("mm", Role::Gemm, LayerId::none(), "e4m3");
    gemm.m = gemm.n = gemm.k = 64;
    gemm.flops = 1000;
    for (int step = 0; step < 2; ++step) {
        b.opSlice(step * 100, 20, gemm).opSlice(step * 100 + 30, 20, gemm);
        b.step(static_cast<std::uint32_t>(step), step * 100, 100);
    }
    const GemmTable table = tableOf(b.build());
    ASSERT_THAT(table.gemms, SizeIs(1));
    EXPECT_DOUBLE_EQ(table.gemms[0].countPerStep, 2);
    EXPECT_EQ(table.gemms[0].gemmNs, 40);
    EXPECT_DOUBLE_EQ(table.gemms[0].flopsPerSecond, 2000 / 40e-9);
    EXPECT_EQ(table.gemms[0].types, "e4m3");
}

}  // namespace
}  // namespace fp8scope::analysis
