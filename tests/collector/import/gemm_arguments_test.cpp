// SPDX-License-Identifier: Apache-2.0
#include "collector/import/gemm_arguments.h"
#include "collector/import/pytorch_nvtx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fp8scope::import {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Arguments called(std::string_view dims, std::string_view types = {})
{
    return {.dims = std::string(dims), .types = std::string(types)};
}

std::vector<std::int64_t> mnkb(std::string_view op, std::string_view dims)
{
    const auto gemm = gemmOf(op, called(dims));
    return gemm ? std::vector{gemm->m, gemm->n, gemm->k, gemm->batch} : std::vector<std::int64_t>{};
}

TEST(GemmArguments, EveryOpsOperandsAreWhereItTakesThem)
{
    EXPECT_THAT(mnkb("aten::mm", "[[8, 4], [4, 16]]"), ElementsAre(8, 16, 4, 1));
    EXPECT_THAT(mnkb("aten::addmm", "[[16], [8, 4], [4, 16], [], []]"), ElementsAre(8, 16, 4, 1));
    EXPECT_THAT(mnkb("aten::bmm", "[[3, 8, 4], [3, 4, 16]]"), ElementsAre(8, 16, 4, 3));
    EXPECT_THAT(mnkb("aten::baddbmm", "[[3, 8, 16], [3, 8, 4], [3, 4, 16]]"), ElementsAre(8, 16, 4, 3));
    EXPECT_THAT(mnkb("aten::linear", "[[2, 5, 4], [16, 4], [16]]"), ElementsAre(10, 16, 4, 1))
        << "the weight is [n, k]";
    EXPECT_THAT(mnkb("aten::_scaled_mm", "[[8, 4], [4, 16], [], []]"), ElementsAre(8, 16, 4, 1));
    EXPECT_THAT(mnkb("aten::_grouped_mm", "[[64, 4], [8, 4, 16], [8]]"), ElementsAre(64, 16, 4, 1))
        << "the groups share out the rows: together one product";
    EXPECT_THAT(mnkb("aten::mv", "[[8, 4], [4]]"), ElementsAre(8, 1, 4, 1));
    EXPECT_THAT(mnkb("_C::cutlass_scaled_mm", "[[8, 16], [8, 4], [4, 16], [1], [1], []]"), ElementsAre(8, 16, 4, 1));
}

TEST(GemmArguments, ShapesThatDoNotFitAreNoProduct)
{
    EXPECT_THAT(mnkb("aten::mm", "[[8, 4], [5, 16]]"), IsEmpty());
    EXPECT_THAT(mnkb("aten::mm", "[[8, 4]]"), IsEmpty());
    EXPECT_THAT(mnkb("aten::mm", ""), IsEmpty());
    EXPECT_THAT(mnkb("aten::mm", "[[8, 0], [0, 16]]"), IsEmpty());
    EXPECT_THAT(mnkb("aten::mm", "[[99999999999999999999, 4], [4, 16]]"), IsEmpty());
    EXPECT_THAT(mnkb("aten::linear", "[[9223372036854775807, 9223372036854775807, 4], [16, 4]]"), IsEmpty());
    EXPECT_THAT(mnkb("aten::add", "[[8, 4], [4, 16]]"), IsEmpty());
}

TEST(GemmArguments, TypesAreSpeltAsEverywhereElse)
{
    const auto gemm =
        gemmOf("aten::_scaled_mm", called("[[128, 256], [256, 64], [128, 1], [1, 64]]",
                                          R"(["c10::Float8_e4m3fnuz","c10::Float8_e5m2","float","float"])"));
    ASSERT_TRUE(gemm);
    EXPECT_EQ(gemm->aType, "e4m3");
    EXPECT_EQ(gemm->bType, "e5m2");
    EXPECT_EQ(gemm->recipe, "rowwise") << "a scale for each row of X";
    EXPECT_EQ(gemm->leastBytes(), 128U * 256 + 256 * 64 + 128 * 64 * 2);
}

TEST(GemmArguments, AColumnMajorFirstOperandIsTransposed)
{
    Arguments arguments = called("[[64, 64], [64, 64]]");
    arguments.strides = "[[1, 64], [64, 1]]";
    EXPECT_TRUE(gemmOf("aten::mm", arguments)->firstIsTransposed);
    arguments.strides = "[[64, 1], [1, 64]]";
    EXPECT_FALSE(gemmOf("aten::mm", arguments)->firstIsTransposed);
}

TEST(GemmArguments, ShapesOfListsAndScalarsAreEmpty)
{
    EXPECT_THAT(parseShapes("[[2, 3], [], [[4], [5, 6]], [7]]"),
                ElementsAre(ElementsAre(2, 3), IsEmpty(), IsEmpty(), ElementsAre(7)));
    EXPECT_THAT(parseShapes("[[2, 3"), IsEmpty()) << "a text that was cut off";
    EXPECT_THAT(parseTypes(R"(["float", "", "TensorList"])"), ElementsAre("float", "", "TensorList"));
}

TEST(PytorchNvtx, RangesOfEmitNvtxAreOps)
{
    const auto op =
        parseNvtxOp("aten::addmm, seq = 47722, op_id = 99, sizes = [[16], [8, 4], [4, 16]], input_op_ids = [(1,0)]");
    ASSERT_TRUE(op);
    EXPECT_EQ(op->name, "aten::addmm");
    EXPECT_EQ(op->sequenceNumber, 47722);
    EXPECT_EQ(op->shapes, "[[16], [8, 4], [4, 16]]");
    EXPECT_EQ(parseNvtxOp("aten::empty, op_id = 7")->sequenceNumber, -1);
    EXPECT_EQ(parseNvtxOp("FSDP::pre_forward (blocks.9), op_id = 5")->name, "FSDP::pre_forward (blocks.9)");
    EXPECT_FALSE(parseNvtxOp("ncclAllReduce"));
    EXPECT_FALSE(parseNvtxOp("step, please"));
    EXPECT_FALSE(parseNvtxOp(", op_id = 5"));
}

}  // namespace
}  // namespace fp8scope::import
